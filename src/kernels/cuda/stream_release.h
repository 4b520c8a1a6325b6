// StreamRelease: how memory of a device is given back, in the order of its own stream and behind whatever other streams
// still do with it.
//
// Only sources that are compiled with CUDA include this.
#pragma once

#include <memory>
#include <vector>

#include "kernels/cuda/runtime.h"

namespace backslice::cuda {

class StreamRelease {
 public:
  // Memory of cudaMallocAsync on that stream, or where there is an owner, that it keeps alive.
  explicit StreamRelease(DeviceStream home, std::shared_ptr<void> owner = nullptr)
      : home_(home), owner_(std::move(owner)) {}

  const std::shared_ptr<void>& owner() const { return owner_; }

  // The memory is kept for what is queued on `stream` by now. Several threads may call it at once. Throws a
  // StatusException where CUDA refuses.
  void keep_for(CudaStream stream);

  // What is queued on `stream` from now on comes after what uses the memory by now. The same.
  void put_behind(CudaStream stream);

  void operator()(std::byte* data) noexcept;

 private:
  // What another stream had queued when it last used the memory. Streams are told apart by their number, which no later
  // stream has; their handles are used again.
  struct Use {
    unsigned long long stream;
    cudaEvent_t done;
  };

  void wait_for_uses() noexcept;
  void free(std::byte* data) const noexcept;

  DeviceStream home_;
  std::shared_ptr<void> owner_;
  std::vector<Use> uses_;
};

}  // namespace backslice::cuda
