// What each file adds to the module.
#pragma once

#include <nanobind/nanobind.h>

namespace backslice::python {

// An argument that takes any object, None included: what is wrong with it is said by the function that reads it.
inline auto any(const char* name) { return nanobind::arg(name).none(); }

void bind_selection(nanobind::module_& m);
void bind_slices(nanobind::module_& m);

}  // namespace backslice::python
