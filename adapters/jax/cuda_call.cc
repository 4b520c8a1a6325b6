#include "cuda_call.h"

#include "backslice/cuda.h"
#include "call.h"

namespace backslice::jax {

Device device_of(const xla::ffi::AnyBuffer& buffer) { return unwrap(cuda_device_of(buffer.untyped_data())); }

Context context_of(CudaStream stream, Allocator* allocator) {
  return {.executor = &serial_executor(), .allocator = allocator, .stream = stream};
}

}  // namespace backslice::jax
