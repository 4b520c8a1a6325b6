// Python indices <-> Index and Selection.
#pragma once

#include "backslice/selection.h"
#include "bindings/numpy_api.h"

namespace backslice::python {

namespace nb = nanobind;

// A NumPy basic index, its text, or a Selection made for the same shape.
Selection read_selection(Ints shape, nb::handle index);

// A tuple of ints, slices and None.
nb::tuple to_python(const Index& index);

nb::tuple to_tuple(Ints list);
nb::list to_list(Ints list);

}  // namespace backslice::python
