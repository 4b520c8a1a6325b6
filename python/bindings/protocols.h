// What containers do so that NumPy, DLPack, copy and pickle can use them.
#pragma once

#include <nanobind/nanobind.h>

#include "bindings/numpy_api.h"

namespace backslice::python {

namespace nb = nanobind;

// __array__(dtype, copy) of what has one array: NumPy's rules on when it is copied.
nb::object array_as(const nb::object& array, nb::handle dtype, nb::handle copy);

// __dlpack__(**options) and __dlpack_device__() of the same.
nb::object dlpack_of(const nb::object& array, const nb::kwargs& options);
nb::object dlpack_device_of(const nb::object& array);

// __reduce__(), which serves copy and pickle at every protocol. The package says how each class is made again.
nb::object reduced(nb::handle self);

}  // namespace backslice::python
