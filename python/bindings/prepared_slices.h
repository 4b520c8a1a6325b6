// backslice.PreparedSlice.
#pragma once

#include "backslice/selection.h"
#include "bindings/dtypes.h"

namespace backslice::python {

// Prepares a slice for arrays of a dtype, which is anything that NumPy accepts as one.
nb::object prepare(const Selection& selection, nb::handle dtype);

}  // namespace backslice::python
