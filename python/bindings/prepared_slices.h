// backslice.PreparedSlice.
#pragma once

#include "backslice/selection.h"
#include "bindings/dtypes.h"

namespace backslice::python {

// A PreparedSlice for arrays of what NumPy takes for that dtype.
nb::object prepare(const Selection& selection, nb::handle dtype);

}  // namespace backslice::python
