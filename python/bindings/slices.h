// One slice of an array, and its gradient, on the normal form.
#pragma once

#include "backslice/slice.h"
#include "bindings/arrays.h"

namespace backslice::python {

// x[selection], as a new array or in `out`.
nb::object sliced(const Selection& selection, const InputArray& x, nb::handle out, const Context& context);

// The gradient of x[selection], as a new array or in `out`, which says `write` how.
nb::object gradient_of_slice(const Selection& selection, const InputArray& dy, nb::handle out, Write write,
                             const Context& context);

}  // namespace backslice::python
