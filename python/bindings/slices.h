// One slice of an array, and its gradient, on the normal form.
#pragma once

#include "backslice/slice.h"
#include "bindings/output_argument.h"

namespace backslice::python {

// x[selection], as a new array or in `out`. `argument` names x in messages.
nb::object sliced(const Selection& selection, const InputArray& x, const char* argument, const OutputArgument& out,
                  const Context& context);

// The gradient of x[selection], as a new array or in `out`, which says `write` how.
nb::object gradient_of_slice(const Selection& selection, const InputArray& dy, const OutputArgument& out, Write write,
                             const Context& context);

// The same of a dy that broadcasts: slice_grad as Python has it. `dtype` is what Python numbers become, or None.
nb::object gradient_of_slice(const Selection& selection, nb::handle dy, nb::handle out, nb::handle accumulate,
                             nb::handle dtype);

}  // namespace backslice::python
