// The device and the stream of a handler's call on CUDA. Compiling handlers needs nothing of CUDA.
#pragma once

#include "backslice/context.h"
#include "xla/ffi/api/ffi.h"

namespace backslice::jax {

using CudaStreamOfCall = xla::ffi::PlatformStream<CudaStream>;

/// Returns the device of a call, from its memory. (XLA has a number too, but counts only the devices that it may use.)
Device device_of(const xla::ffi::AnyBuffer& buffer);

/// Makes the Context for work on that stream. No threads are needed.
Context context_of(CudaStream stream, Allocator* allocator);

}  // namespace backslice::jax
