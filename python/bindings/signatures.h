// The visible side of the module's functions and classes: signatures, docstrings, and errors of wrong calls.
//
// nanobind's functions have no signature for inspect.signature, editors and Sphinx, and answer a wrong keyword with a
// dump of C++ types. So each is wrapped in a builtin of Python's own kind. The builtin has its signature and docstring
// from the type stubs in backslice/_core/, which the build turns into a table. It orders the arguments, fills in
// defaults, and calls nanobind's function with all of them. Calls that it cannot bind go to bind_call() in
// backslice/suggestions.py, which usually raises.
#pragma once

#include <nanobind/nanobind.h>

#include <string_view>

namespace backslice::python {

// Returns the docstring of a class, with the signature of its constructor, for nanobind. Null if the stub has no class
// of that name.
const char* class_doc(std::string_view name);

// Wraps all functions, after they are bound. Raises AttributeError if the stub names something that the module lacks.
void install_signatures(nanobind::module_& m);

}  // namespace backslice::python
