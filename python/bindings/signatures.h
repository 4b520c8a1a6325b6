// What users see of the module's functions and classes: signatures, docstrings, and what a wrong call is told.
//
// nanobind's functions carry no signature that inspect.signature, editors and Sphinx could read, and answer a wrong
// keyword with a dump of C++ types. So each of them is put behind a builtin of Python's own kind. The builtin has its
// signature and docstring from the type stubs in backslice/_core/, which the build turns into a table; it brings the
// arguments into the order of the parameters, fills in defaults, and calls nanobind's function with all of them. What
// it cannot bind goes to bind_call() in backslice/suggestions.py, which most often raises.
#pragma once

#include <nanobind/nanobind.h>

#include <string_view>

namespace backslice::python {

// The docstring of a class, with the signature of its constructor, for nanobind to make the class with. Null where the
// stub has none of that name.
const char* class_doc(std::string_view name);

// Called last, when everything is bound. Raises AttributeError where the stub names what the module lacks.
void install_signatures(nanobind::module_& m);

}  // namespace backslice::python
