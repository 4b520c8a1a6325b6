#include "bindings/call_context.h"

#include <utility>

#include "backslice/cuda.h"
#include "bindings/arguments.h"
#include "bindings/errors.h"
#include "bindings/objects.h"
#include "bindings/package.h"

namespace backslice::python {
namespace {

thread_local bool runs_serially = false;

}  // namespace

CallContext::CallContext() {
  cancelled = interruption_.test();
  if (runs_serially) executor = &serial_executor();
}

nb::object CallContext::stream_for(nb::handle array, int ordinal) {
  if (!is_chosen_) {
    const nb::object chosen = call_with(registered("cuda_stream"), nb::make_tuple(array, ordinal));
    stream = reinterpret_cast<CudaStream>(nb::cast<std::uintptr_t>(chosen[0]));
    waits_ = !nb::cast<bool>(chosen[1]);
    device_ = Device::cuda(ordinal);
    is_chosen_ = true;
  }
  return nb::int_(reinterpret_cast<std::uintptr_t>(stream));
}

Status CallContext::finish() const { return waits_ ? cuda_synchronize(device_.ordinal, stream) : Status(); }

bool set_serial(bool serial) noexcept { return std::exchange(runs_serially, serial); }

Write read_write(nb::handle accumulate, nb::handle out) {
  if (!read_flag(accumulate, "accumulate")) return Write::Overwrite;
  if (out.is_none()) raise_invalid_argument("accumulate=True needs out, the array to add to");
  return Write::Accumulate;
}

}  // namespace backslice::python
