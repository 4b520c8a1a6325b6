// DeviceUse: a call's use of memory that a container holds on a device.
//
// The call's stream waits for the earlier users of the memory. When the call ends, even by an error, the memory is kept
// until the work that the call has queued is done.
#pragma once

#include "backslice/cuda.h"
#include "core/boundary.h"

namespace backslice {

class DeviceUse {
 public:
  // Throws a StatusException if the driver cannot wait. Precondition: the buffer outlives this.
  DeviceUse(const Buffer& buffer, CudaStream stream) : buffer_(buffer), stream_(stream) {
    if (buffer.device().is_cpu()) return;
    if (Status awaited = cuda_await(buffer, stream); !awaited.ok()) throwing::refuse(std::move(awaited));
  }
  ~DeviceUse() {
    if (!buffer_.device().is_cpu()) keep_until_done(buffer_, stream_);
  }
  DeviceUse(const DeviceUse&) = delete;
  DeviceUse& operator=(const DeviceUse&) = delete;

  // The work is queued. If the driver cannot keep the memory for it, this waits until the work is done.
  static void keep_until_done(const Buffer& buffer, CudaStream stream) noexcept {
    if (!cuda_keep(buffer, stream).ok()) (void)cuda_synchronize(buffer.device().ordinal, stream);
  }

 private:
  const Buffer& buffer_;
  CudaStream stream_;
};

}  // namespace backslice
