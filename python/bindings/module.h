// What each file adds to the module.
#pragma once

#include <nanobind/nanobind.h>

namespace backslice::python {

void bind_selection(nanobind::module_& m);
void bind_slices(nanobind::module_& m);

}  // namespace backslice::python
