// For code that calls the CUDA runtime: errors as StatusExceptions, and the current device.
//
// Only sources that are compiled with CUDA include this.
#pragma once

#include <cuda_runtime_api.h>

#include "core/boundary.h"
#include "kernels/cuda/memory.h"

namespace backslice::cuda {

// Returns the Status for a failed call, named by `call`, on that device. Precondition: it failed.
Status error_of(cudaError_t error, const char* call, int ordinal);

// Ends the operation if a call failed. The runtime forgets the error, unless it is a sticky one.
inline void check(cudaError_t error, const char* call, int ordinal) {
  if (error == cudaSuccess) return;
  (void)cudaGetLastError();
  throw StatusException(error_of(error, call, ordinal));
}

// Makes a device the current one until the end of the scope, if necessary.
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

// During its lifetime, this thread may allocate on streams that are not captured, free on them and wait for them. The
// stricter modes, which most captures have, forbid these calls to every thread; one ends the capture.
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
