#include "fake_runtime.h"

#include <cstdlib>
#include <cstring>
#include <utility>

namespace backslice::testing {

FakeRuntime fake;

namespace {

cudaError_t told(cudaError_t error) {
  if (error != cudaSuccess) fake.last = error;
  return error;
}

}  // namespace
}  // namespace backslice::testing

using backslice::testing::fake;
using backslice::testing::told;

extern "C" {
cudaError_t __wrap_cudaGetDevice(int* device) {
  *device = 0;
  return cudaSuccess;
}
cudaError_t __wrap_cudaSetDevice(int) { return cudaSuccess; }
cudaError_t __wrap_cudaPointerGetAttributes(cudaPointerAttributes* attributes, const void* data) {
  *attributes = {};
  attributes->type = cudaMemoryTypeDevice;
  attributes->devicePointer = const_cast<void*>(data);
  return cudaSuccess;
}
cudaError_t __wrap_cudaMallocAsync(void** data, std::size_t size, cudaStream_t) {
  ++fake.queued;
  if (fake.allocate != cudaSuccess) return told(fake.allocate);
  const std::size_t rounded = (size + 255) / 256 * 256;
  *data = std::memset(std::aligned_alloc(256, rounded), 0, rounded);  // what kernels that do nothing leave behind
  fake.allocated.insert(*data);
  return cudaSuccess;
}
cudaError_t __wrap_cudaFree(void* data) {
  fake.allocated.erase(data);
  std::free(data);
  ++fake.freed_after_waiting;
  return cudaSuccess;
}
cudaError_t __wrap_cudaFreeAsync(void* data, cudaStream_t) {
  if (fake.free_in_order != cudaSuccess) return told(fake.free_in_order);
  fake.allocated.erase(data);
  std::free(data);
  return cudaSuccess;
}
cudaError_t __wrap_cudaMemsetAsync(void* data, int value, std::size_t bytes, cudaStream_t) {
  ++fake.queued;
  std::memset(data, value, bytes);
  return cudaSuccess;
}
cudaError_t __wrap_cudaMemcpyAsync(void* to, const void* from, std::size_t bytes, cudaMemcpyKind, cudaStream_t) {
  ++fake.queued;
  std::memcpy(to, from, bytes);
  return cudaSuccess;
}
cudaError_t __wrap_cudaLaunchKernel(const void*, dim3, dim3, void**, std::size_t, cudaStream_t) {
  ++fake.queued;
  ++fake.launches;
  return fake.launches_before_failing-- > 0 ? cudaSuccess : told(fake.launch);
}
cudaError_t __wrap_cudaStreamSynchronize(cudaStream_t) {
  return told(fake.captures ? cudaErrorStreamCaptureUnsupported : fake.wait);
}
cudaError_t __wrap_cudaDeviceSynchronize() { return told(fake.wait); }
cudaError_t __wrap_cudaStreamIsCapturing(cudaStream_t, cudaStreamCaptureStatus* status) {
  *status = fake.captures ? cudaStreamCaptureStatusActive : cudaStreamCaptureStatusNone;
  return cudaSuccess;
}
cudaError_t __wrap_cudaGetLastError() { return std::exchange(fake.last, cudaSuccess); }
}
