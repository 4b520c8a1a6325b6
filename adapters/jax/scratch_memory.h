// XLA's device memory for the time of a call, as an Allocator.
#pragma once

#include "backslice/allocator.h"
#include "xla/ffi/api/ffi.h"

namespace backslice::jax {

/// XLA takes all of it back when the call returns, for what it queues on the same stream afterwards. Not for calls that
/// XLA may put into a CUDA graph, and for one thread.
class ScratchMemory final : public Allocator {
 public:
  ScratchMemory(xla::ffi::ScratchAllocator& scratch, Device device) : scratch_(scratch), device_(device) {}

  /// ResourceExhausted where XLA has none left. The memory is as it is: zeros are Unimplemented.
  Result<Buffer> allocate(std::int64_t bytes, Contents contents) override;
  Device device() const override { return device_; }

 private:
  xla::ffi::ScratchAllocator& scratch_;
  Device device_;
};

}  // namespace backslice::jax
