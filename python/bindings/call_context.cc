#include "bindings/call_context.h"

#include "bindings/arguments.h"
#include "bindings/errors.h"

namespace backslice::python {

Write read_write(nb::handle accumulate, nb::handle out) {
  if (!read_flag(accumulate, "accumulate")) return Write::Overwrite;
  if (out.is_none()) raise_invalid_argument("accumulate=True needs out, the array to add to");
  return Write::Accumulate;
}

}  // namespace backslice::python
