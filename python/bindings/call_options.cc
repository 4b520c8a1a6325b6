#include "bindings/call_options.h"

#include "bindings/arguments.h"
#include "bindings/errors.h"

namespace backslice::python {

CallOptions::CallOptions(nb::handle accumulate, nb::handle out) : CallOptions() {
  this->accumulate = read_flag(accumulate, "accumulate");
  if (this->accumulate && out.is_none()) raise_invalid_argument("accumulate=True needs out, the array to add to");
}

}  // namespace backslice::python
