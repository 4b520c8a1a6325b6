// One slice of an array, and its gradient, on the normal form.
#pragma once

#include "backslice/slice.h"
#include "bindings/output_argument.h"

namespace backslice::python {

// Returns x[selection], as a new array or in `out`. `argument` names x in messages.
nb::object sliced(const Selection& selection, const InputArray& x, const char* argument, const OutputArgument& out,
                  const Context& context);

// Returns the gradient of x[selection], as a new array or in `out`, written as `write` says.
nb::object gradient_of_slice(const Selection& selection, const InputArray& dy, const OutputArgument& out, Write write,
                             const Context& context);

// The same with a dy that broadcasts: Python's slice_grad. `dtype` is for Python numbers, or None.
nb::object gradient_of_slice(const Selection& selection, nb::handle dy, nb::handle out, nb::handle accumulate,
                             nb::handle dtype);

}  // namespace backslice::python
