#include "bindings/call_context.h"

#include <utility>

#include "bindings/arguments.h"
#include "bindings/errors.h"

namespace backslice::python {
namespace {

thread_local bool runs_serially = false;

}  // namespace

CallContext::CallContext() {
  cancelled = interruption_.test();
  if (runs_serially) executor = &serial_executor();
}

bool set_serial(bool serial) noexcept { return std::exchange(runs_serially, serial); }

Write read_write(nb::handle accumulate, nb::handle out) {
  if (!read_flag(accumulate, "accumulate")) return Write::Overwrite;
  if (out.is_none()) raise_invalid_argument("accumulate=True needs out, the array to add to");
  return Write::Accumulate;
}

}  // namespace backslice::python
