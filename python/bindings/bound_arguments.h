// The arguments of one call, in the order of the parameters.
#pragma once

#include <Python.h>

#include <array>

#include "bindings/gil.h"
#include "bindings/signature.h"

namespace backslice::python {

// A signature as Python's objects. They live as long as the process.
struct Parameters {
  const Signature* signature;
  std::array<PyObject*, kMostParameters> names;     // interned
  std::array<PyObject*, kMostParameters> defaults;  // null where there is none
};

Parameters make_parameters(const Signature& signature);

// What Python passes to a function, by the protocol of vectorcall.
struct CallArguments {
  PyObject* const* values;  // positional ones, then those of the keywords
  Py_ssize_t positional;
  PyObject* keywords;  // a tuple of str, or null
};

// Brings the arguments into order. Where they do not fit it raises a TypeError, as a Python function would, and returns
// false.
class BoundArguments {
 public:
  BoundArguments() = default;
  ~BoundArguments() {
    if (collected_ != nullptr) drop(collected_);
    if (keywords_ != nullptr) drop(keywords_);
  }
  BoundArguments(const BoundArguments&) = delete;
  BoundArguments& operator=(const BoundArguments&) = delete;

  bool bind(const Parameters& parameters, const CallArguments& given);

  // Two places before the first argument are free: for self, and for whom the call is passed on to.
  PyObject** values() { return slots_.data() + 2; }

 private:
  bool bind_keywords(const Parameters& parameters, const CallArguments& given);
  bool bind_keyword(const Parameters& parameters, PyObject* keyword, PyObject* value);
  bool bind_defaults(const Parameters& parameters, const CallArguments& given);
  bool collect(const Parameters& parameters, const CallArguments& given);
  bool collect_keywords(const Parameters& parameters);

  std::array<PyObject*, kMostParameters + 2> slots_;
  PyObject* collected_ = nullptr;  // by *name
  PyObject* keywords_ = nullptr;   // by **name
};

}  // namespace backslice::python
