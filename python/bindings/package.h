// What the Python package hands to this module when it is imported (backslice/__init__.py): its exceptions, and the
// functions that are written in Python. The module imports nothing of the package itself.
#pragma once

#include <nanobind/nanobind.h>

namespace backslice::python {

// What was registered under that name. Raises RuntimeError where nothing was.
nanobind::object registered(const char* name);

// The value of an expression, in whose functions everything registered has a name.
nanobind::object evaluated(const char* code);

// _core._register(objects)
void bind_registration(nanobind::module_& m);

}  // namespace backslice::python
