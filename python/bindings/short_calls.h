// The short path of functions that are called in loops. Small calls with plain arguments (short_arguments.h) are done
// here, without dictionary look-ups, and without objects other than the result. The GIL is kept, since releasing it
// would take longer. All other calls take the general path, which alone raises errors; so do calls with keywords other
// than `out` and `accumulate`.
#pragma once

#include <Python.h>

#include <string_view>

#include "bindings/short_arguments.h"

namespace backslice::python {

// Takes the arguments of a builtin. Returns null without an error set if the call is not for the short path; then
// nothing has happened.
using ShortCall = PyObject* (*)(PyObject* self, PyObject* const* values, Py_ssize_t positional, PyObject* keywords);

// Registers a short path when its function is bound. `scope` is its class, or empty. Precondition: both strings live as
// long as the process.
void add_short_call(std::string_view scope, std::string_view name, ShortCall call);

// Returns the short path of a function; null if it has none.
ShortCall find_short_call(std::string_view scope, std::string_view name);

// Reads the arguments `out` and `accumulate`, by position from `first` on or by name. Returns false for others.
struct ShortOptions {
  PyObject* out = Py_None;
  bool accumulates = false;

  bool read(PyObject* const* values, Py_ssize_t positional, PyObject* keywords, Py_ssize_t first,
            bool takes_accumulate);
};

// Returns whether the environment was found valid, which the first general call checks.
bool is_environment_checked();

// Returns a new, uninitialised contiguous array with the element type of another one; null without an error set if
// memory is short.
PyArrayObject* new_array_like(PyArrayObject* like, const ShortIndex::List& shape, int rank);

void bind_short_calls();

}  // namespace backslice::python
