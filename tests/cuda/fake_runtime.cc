#include "fake_runtime.h"

#include <algorithm>
#include <cstdio>
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

// Functions of the current device.
void use() { fake.used.insert(fake.current); }
void queue() {
  use();
  ++fake.queued;
}

// Returns the device of the block that holds the address; 0 for other addresses.
int device_of(const std::map<const void*, FakeRuntime::Block>& blocks, const void* data) {
  auto after = blocks.upper_bound(data);
  if (after == blocks.begin()) return 0;
  const auto& [first, block] = *--after;
  return static_cast<const char*>(data) < static_cast<const char*>(first) + block.bytes ? block.device : 0;
}

cudaError_t properties_of(int device, cudaDeviceProp* properties) {
  *properties = {};
  std::snprintf(properties->name, sizeof(properties->name), "fake %d", device);
  return cudaSuccess;
}

void give_back(void* data) {
  use();
  fake.allocated.erase(data);
  std::free(data);
}

}  // namespace
}  // namespace backslice::testing

using namespace backslice::testing;

extern "C" {
cudaError_t __wrap_cudaGetDevice(int* device) {
  *device = fake.current;
  return cudaSuccess;
}
cudaError_t __wrap_cudaSetDevice(int device) {
  if (device < 0 || device >= fake.devices) return told(cudaErrorInvalidDevice);
  fake.current = device;
  return cudaSuccess;
}
cudaError_t __wrap_cudaGetDeviceCount(int* count) {
  *count = fake.devices;
  return cudaSuccess;
}
cudaError_t __wrap_cudaGetDeviceProperties(cudaDeviceProp* properties, int device) {
  return properties_of(device, properties);
}
cudaError_t __wrap_cudaGetDeviceProperties_v2(cudaDeviceProp* properties, int device) {  // its name in CUDA 12
  return properties_of(device, properties);
}
cudaError_t __wrap_cudaPointerGetAttributes(cudaPointerAttributes* attributes, const void* data) {
  *attributes = {};
  attributes->type = cudaMemoryTypeDevice;
  attributes->device = std::max(device_of(fake.lent, data), device_of(fake.allocated, data));
  attributes->devicePointer = const_cast<void*>(data);
  return cudaSuccess;
}
cudaError_t __wrap_cudaMallocAsync(void** data, std::size_t size, cudaStream_t) {
  queue();
  if (fake.allocate != cudaSuccess) return told(fake.allocate);
  const std::size_t rounded = (size + 255) / 256 * 256;
  *data = std::memset(std::aligned_alloc(256, rounded), 0, rounded);  // what kernels that do nothing leave behind
  fake.allocated[*data] = {size, fake.current};
  return cudaSuccess;
}
cudaError_t __wrap_cudaFree(void* data) {
  give_back(data);
  ++fake.freed_after_waiting;
  return cudaSuccess;
}
cudaError_t __wrap_cudaFreeAsync(void* data, cudaStream_t) {
  if (fake.free_in_order != cudaSuccess) return told(fake.free_in_order);
  give_back(data);
  return cudaSuccess;
}
cudaError_t __wrap_cudaMemsetAsync(void* data, int value, std::size_t bytes, cudaStream_t) {
  queue();
  std::memset(data, value, bytes);
  return cudaSuccess;
}
cudaError_t __wrap_cudaMemcpyAsync(void* to, const void* from, std::size_t bytes, cudaMemcpyKind, cudaStream_t) {
  queue();
  std::memcpy(to, from, bytes);
  return cudaSuccess;
}
cudaError_t __wrap_cudaLaunchKernel(const void*, dim3, dim3, void**, std::size_t, cudaStream_t) {
  queue();
  ++fake.launches;
  return fake.launches_before_failing-- > 0 ? cudaSuccess : told(fake.launch);
}
cudaError_t __wrap_cudaStreamSynchronize(cudaStream_t) {
  use();
  return told(fake.captures ? cudaErrorStreamCaptureUnsupported : fake.wait);
}
cudaError_t __wrap_cudaDeviceSynchronize() {
  use();
  return told(fake.wait);
}
cudaError_t __wrap_cudaThreadExchangeStreamCaptureMode(cudaStreamCaptureMode*) { return cudaSuccess; }
cudaError_t __wrap_cudaStreamIsCapturing(cudaStream_t, cudaStreamCaptureStatus* status) {
  use();
  *status = fake.captures ? cudaStreamCaptureStatusActive : cudaStreamCaptureStatusNone;
  return cudaSuccess;
}
cudaError_t __wrap_cudaGetLastError() { return std::exchange(fake.last, cudaSuccess); }
}
