// The protocols by which NumPy, DLPack, copy and pickle use containers.
#pragma once

#include <nanobind/nanobind.h>

#include "bindings/numpy_api.h"

namespace backslice::python {

namespace nb = nanobind;

// __array__(dtype, copy) of a container with one array: NumPy's rules decide when it is copied.
nb::object array_as(const nb::object& array, nb::handle dtype, nb::handle copy);

// Its __dlpack__(**options) and __dlpack_device__().
nb::object dlpack_of(const nb::object& array, const nb::kwargs& options);
nb::object dlpack_device_of(const nb::object& array);

// __reduce__(), for copy and pickle at every protocol. The package makes the objects again.
nb::object reduced(nb::handle self);

}  // namespace backslice::python
