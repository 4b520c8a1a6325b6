// Memory that XLA has passed to a call, as an Allocator.
#pragma once

#include "backslice/allocator.h"

namespace backslice::jax {

/// Allocates from the front of its memory. Allocations may be released in any order; after the last one, it starts at
/// the front again. So it is for work in the order of one stream, and for one thread.
class GivenMemory final : public Allocator {
 public:
  GivenMemory(void* data, std::int64_t bytes, Device device)
      : data_(static_cast<std::byte*>(data)), bytes_(bytes), device_(device) {}

  /// ResourceExhausted if the memory is too small. Contents are unspecified: zeros are Unimplemented.
  Result<Buffer> allocate(std::int64_t bytes, Contents contents) override;
  Device device() const override { return device_; }

 private:
  void release();

  std::byte* data_;
  std::int64_t bytes_, used_ = 0, given_ = 0;
  Device device_;
};

}  // namespace backslice::jax
