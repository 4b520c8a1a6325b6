// XLA's device memory for the duration of a call, as an Allocator.
#pragma once

#include "backslice/allocator.h"
#include "xla/ffi/api/ffi.h"

namespace backslice::jax {

/// When the call returns, XLA reuses the memory for later work on the same stream. Not for calls that XLA may put into
/// a CUDA graph, and for one thread.
class ScratchMemory final : public Allocator {
 public:
  ScratchMemory(xla::ffi::ScratchAllocator& scratch, Device device) : scratch_(scratch), device_(device) {}

  /// ResourceExhausted if XLA has no memory left. Contents are unspecified: zeros are Unimplemented.
  Result<Buffer> allocate(std::int64_t bytes, Contents contents) override;
  Device device() const override { return device_; }

 private:
  xla::ffi::ScratchAllocator& scratch_;
  Device device_;
};

}  // namespace backslice::jax
