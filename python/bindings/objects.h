// Operations on objects of any kind. Their methods may be users' code, so every call goes through call_python.
#pragma once

#include <nanobind/nanobind.h>

#include "bindings/gil.h"

namespace backslice::python {

namespace nb = nanobind;

// Returns the result of a C API function that returns a new reference, or throws its exception.
template <class Call>
nb::object checked(const Call& call) {
  PyObject* result = call_python(call);
  if (result == nullptr) nb::raise_python_error();
  return nb::steal(result);
}

// getattr(object, name).
nb::object attribute(nb::handle object, const char* name);

// The same; not valid if the attribute does not exist or reading it raises an ordinary error.
nb::object find_attribute(nb::handle object, const char* name);
inline bool has_attribute(nb::handle object, const char* name) { return find_attribute(object, name).is_valid(); }

// callable() and callable(argument).
nb::object call(nb::handle callable);
nb::object call(nb::handle callable, nb::handle argument);

// callable(*arguments). Precondition: they are a tuple.
nb::object call_with(nb::handle callable, nb::handle arguments);

// import name.
nb::object imported(const char* name);

// A list that grows item by item. (nanobind's own class calls Python directly.)
class NewList {
 public:
  NewList() : list_(checked([] { return PyList_New(0); })) {}

  void append(nb::handle item);
  const nb::object& list() const { return list_; }
  nb::tuple tuple() const;

 private:
  nb::object list_;
};

// Returns tuple(sequence): the items as they are now; later changes of the sequence do not matter.
nb::object items_of(nb::handle sequence);

// Whether it is a numpy.ma.MaskedArray.
bool is_masked_array(nb::handle object);

// numpy.asarray(object).
nb::object as_numpy_array(nb::handle object);

}  // namespace backslice::python
