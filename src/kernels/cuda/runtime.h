// What code that calls the CUDA runtime shares: errors as StatusExceptions, and the current device.
//
// Only sources that are compiled with CUDA include this.
#pragma once

#include <cuda_runtime_api.h>

#include "core/boundary.h"
#include "kernels/cuda/memory.h"

namespace backslice::cuda {

// The error of a call, named by `call`, on that device. Precondition: there is one.
Status error_of(cudaError_t error, const char* call, int ordinal);

// Ends the operation where a call failed. The runtime forgets the error, unless it is one that stays.
inline void check(cudaError_t error, const char* call, int ordinal) {
  if (error == cudaSuccess) return;
  (void)cudaGetLastError();
  throw StatusException(error_of(error, call, ordinal));
}

// Makes a device the current one until the end of the scope, where it is not already.
class DeviceGuard {
 public:
  explicit DeviceGuard(int ordinal) {
    check(cudaGetDevice(&before_), "cudaGetDevice", ordinal);
    if (before_ == ordinal) return;
    check(cudaSetDevice(ordinal), "cudaSetDevice", ordinal);
    changed_ = true;
  }
  ~DeviceGuard() {
    if (changed_) (void)cudaSetDevice(before_);
  }
  DeviceGuard(const DeviceGuard&) = delete;

 private:
  int before_ = 0;
  bool changed_ = false;
};

// While it lives, this thread may take memory from streams that are not captured, give it back to them and wait for
// them. The stricter modes, which most captures have, forbid it to everybody, and end the capture where it is done.
class RelaxedCapture {
 public:
  RelaxedCapture() noexcept { exchange(); }
  ~RelaxedCapture() { exchange(); }
  RelaxedCapture(const RelaxedCapture&) = delete;

 private:
  void exchange() noexcept { (void)cudaThreadExchangeStreamCaptureMode(&mode_); }
  cudaStreamCaptureMode mode_ = cudaStreamCaptureModeRelaxed;
};

}  // namespace backslice::cuda
