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

// Calls the library of a place for its stream.
std::uintptr_t stream_of(const Place& place) {
  return nb::cast<std::uintptr_t>(call(attribute(place.library, "stream"), nb::int_(place.device.ordinal)));
}
bool keeps_memory(nb::handle library) { return nb::cast<bool>(attribute(library, "keeps_memory")); }

}  // namespace

CallContext::CallContext() {
  cancelled = interruption_.test();
  if (runs_serially) executor = &serial_executor();
}

void CallContext::choose(nb::object library, std::uintptr_t number, bool keeps_memory, int ordinal) {
  stream = reinterpret_cast<CudaStream>(number);
  waits_ = !keeps_memory;
  place_ = {Device::cuda(ordinal), std::move(library)};
  is_chosen_ = true;
}

void CallContext::run_on(const Place& place, std::string name) {
  if (place.is_cpu()) return;
  first_ = std::move(name);
  const int ordinal = place.device.ordinal;
  if (!place.library.is_valid()) return choose({}, 1, false, ordinal);  // CUDA's default stream
  choose(place.library, stream_of(place), keeps_memory(place.library), ordinal);
}

void CallContext::use_part(const Place& place) {
  if (place.is_cpu() || !place.library.is_valid() || place.library.is(place_.library)) return;
  use(place.library, stream_of(place), first_.c_str(), place.device.ordinal, keeps_memory(place.library));
}

nb::object CallContext::stream_for(nb::handle array, const char* argument, int ordinal) {
  must_be_here(argument, ordinal);
  if (is_chosen_ && type_.is_valid() && array.type().is(type_)) return number();
  const nb::object told = call_with(registered("cuda_stream"), nb::make_tuple(array, ordinal));
  type_ = nb::borrow(array.type());
  join(nb::borrow(told[0]), nb::cast<std::uintptr_t>(told[1]), nb::cast<bool>(told[2]), argument, ordinal);
  return number();
}

void CallContext::use_library_of(nb::handle array, const char* argument, int ordinal) {
  must_be_here(argument, ordinal);
  if (is_chosen_ && type_.is_valid() && array.type().is(type_)) return;
  const nb::object told = call_with(registered("cuda_stream"), nb::make_tuple(array, ordinal));
  use(nb::borrow(told[0]), nb::cast<std::uintptr_t>(told[1]), argument, ordinal, nb::cast<bool>(told[2]));
  type_ = nb::borrow(array.type());
}

void CallContext::use(nb::object library, std::uintptr_t number, const char* argument, int ordinal, bool keeps_memory) {
  must_be_here(argument, ordinal);
  join(std::move(library), number, keeps_memory, argument, ordinal);
  check(cuda_wait(ordinal, stream, reinterpret_cast<CudaStream>(number)));  // as __dlpack__ would have waited
}

void CallContext::must_be_here(const char* argument, int ordinal) const {
  if (!is_chosen_ || ordinal == place_.device.ordinal) return;
  raise_invalid_argument(std::string(argument) + " is on " + to_string(Device::cuda(ordinal)) + ", but " + first_ +
                         " is on " + to_string(place_.device));
}

void CallContext::join(nb::object library, std::uintptr_t number, bool keeps_memory, const char* argument,
                       int ordinal) {
  if (!is_chosen_) first_ = argument;
  if (!is_chosen_ || !place_.library.is_valid()) {
    choose(std::move(library), number, keeps_memory, ordinal);
  } else if (!place_.library.is(library)) {
    waits_ = true;  // each stream has memory of its own
  }
}

void CallContext::use_device_memory() {
  if (place_.is_cpu()) return;
  if (waits_ || !place_.library.is_valid()) {
    memory_ = unwrap(cuda_allocator(place_.device.ordinal, stream));
  } else {
    memory_ = std::make_shared<LibraryAllocator>(place_, stream);
  }
  allocator = memory_.get();
}

Context CallContext::for_container(const CancelledTest* ctrl_c) const {
  return {.cancelled = ctrl_c, .stream = stream};
}

Status CallContext::finish() const { return waits_ ? cuda_synchronize(place_.device.ordinal, stream) : Status(); }

nb::object CallContext::device_array(const Tensor& tensor, nb::handle numpy_dtype) const {
  check(without_gil([&] { return finish(); }));
  return shared_array(tensor, numpy_dtype, place_, {waits_ ? nullptr : stream});
}

void CallContext::keep(const Tensor& tensor) const {
  if (!tensor.device().is_cpu()) check(cuda_keep(tensor.buffer(), stream));
}

bool set_serial(bool serial) noexcept { return std::exchange(runs_serially, serial); }

Write read_write(nb::handle accumulate, nb::handle out) {
  if (!read_flag(accumulate, "accumulate")) return Write::Overwrite;
  if (out.is_none()) raise_invalid_argument("accumulate=True needs out, the array to add to");
  return Write::Accumulate;
}

}  // namespace backslice::python
