// The short path of the functions that are called in loops. Small calls with plain arguments (short_arguments.h) are
// done here: nothing is looked up in a dictionary, no object is made but the result, and the GIL is kept, since it
// would take longer to give it up. Everything else goes on to the general path, which alone makes errors. A call with
// keywords other than `out` and `accumulate` takes the general path, too.
#pragma once

#include <Python.h>

#include <string_view>

#include "bindings/short_arguments.h"

namespace backslice::python {

// The arguments of a builtin. Null with no error set: the call is none for the short path, and nothing has happened.
using ShortCall = PyObject* (*)(PyObject* self, PyObject* const* values, Py_ssize_t positional, PyObject* keywords);

// Called where a function is bound. `scope` is its class, or empty. Precondition: both live as long as the process.
void add_short_call(std::string_view scope, std::string_view name, ShortCall call);

// Null where a function has none.
ShortCall find_short_call(std::string_view scope, std::string_view name);

// The arguments `out` and `accumulate`, by position from `first` on or by name. False for others.
struct ShortOptions {
  PyObject* out = Py_None;
  bool accumulates = false;

  bool read(PyObject* const* values, Py_ssize_t positional, PyObject* keywords, Py_ssize_t first,
            bool takes_accumulate);
};

// Whether the environment was found right, which the first call of all checks.
bool is_environment_checked();

// A new contiguous array with elements like another one's, not initialised; null without an error set where there is no
// memory for it.
PyArrayObject* new_array_like(PyArrayObject* like, const ShortIndex::List& shape, int rank);

void bind_short_calls();

}  // namespace backslice::python
