#include "capi/context.h"

#include <cstddef>

#include "capi/structs.h"

namespace backslice::capi {
namespace {

static_assert(sizeof(backslice_device_status) == sizeof(DeviceStatus));
static_assert(offsetof(backslice_device_status, refused) == offsetof(DeviceStatus, refused));
static_assert(offsetof(backslice_device_status, found) == offsetof(DeviceStatus, found));
static_assert(offsetof(backslice_device_status, expected) == offsetof(DeviceStatus, expected));

backslice_allocator checked_allocator(const backslice_allocator* allocator) {
  const backslice_allocator given = given_struct(allocator, {"context", "allocator"});
  not_null(given.allocate, "context.allocator->allocate");
  not_null(given.deallocate, "context.allocator->deallocate");
  flag_of(given.has_free_zeros, "context.allocator->has_free_zeros");
  return given;
}

backslice_executor checked_executor(const backslice_executor* executor) {
  const backslice_executor given = given_struct(executor, {"context", "executor"});
  not_null(given.run, "context.executor->run");
  if (given.concurrency < 1) {
    refuse(invalid_argument("context.executor->concurrency is ", given.concurrency, ", expected 1 or more")
               .at("context.executor->concurrency"));
  }
  return given;
}

}  // namespace

Result<Buffer> CallbackAllocator::allocate(std::int64_t bytes, Contents contents) {
  if (bytes == 0) return Buffer();
  void* data = callbacks_.allocate(callbacks_.user, bytes, kAlignment, contents == Contents::Zero ? 1 : 0);
  if (data == nullptr) return resource_exhausted("context.allocator->allocate gave no memory for ", bytes, " bytes");
  // If this throws, std::shared_ptr returns the memory.
  Buffer buffer = Buffer::own(
      static_cast<std::byte*>(data),
      [give_back = callbacks_.deallocate, user = callbacks_.user, bytes](std::byte* p) { give_back(user, p, bytes); },
      device_);
  if (reinterpret_cast<std::uintptr_t>(data) % kAlignment == 0) return buffer;
  return Status(StatusCode::Internal, join("context.allocator->allocate gave memory that is not aligned to ",
                                           kAlignment, " bytes, as it was asked to"));
}

void CallContext::take(const backslice_context& context) {
  const backslice_context given = given_struct(&context, "context");
  const Device device = device_from(given.device_type, given.device_id, "context");
  context_.stream = static_cast<CudaStream>(given.stream);
  context_.device_status = reinterpret_cast<DeviceStatus*>(given.device_status);
  if (given.allocator != nullptr) {
    context_.allocator = &allocator_.emplace(checked_allocator(given.allocator), device);
  } else if (!device.is_cpu()) {
    context_.allocator = &device_allocator_.emplace(cuda::DeviceStream{device.ordinal, context_.stream});
  }
  if (given.executor != nullptr) context_.executor = &executor_.emplace(checked_executor(given.executor));
  if (given.cancelled == nullptr) return;
  cancelled_ = [asked = given.cancelled, user = given.cancelled_user] { return asked(user) != 0; };
  context_.cancelled = &cancelled_;
}

}  // namespace backslice::capi

int32_t backslice_device_status_check(const backslice_device_status* status) {
  using namespace backslice::capi;
  return guarded([&] {
    const backslice_device_status& found = not_null(status, "status");
    return backslice::to_status({found.refused, found.found, found.expected});
  });
}
