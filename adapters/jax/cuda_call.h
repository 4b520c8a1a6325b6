// What handlers on CUDA share: where a call runs. Nothing of CUDA is needed to compile them.
#pragma once

#include "backslice/context.h"
#include "xla/ffi/api/ffi.h"

namespace backslice::jax {

using CudaStreamOfCall = xla::ffi::PlatformStream<CudaStream>;

/// The device of a call, from the memory that it was given. (XLA has a number for it as well, but counts the devices
/// that it was told to use.)
Device device_of(const xla::ffi::AnyBuffer& buffer);

/// Queued on that stream. Threads are never needed.
Context context_of(CudaStream stream, Allocator* allocator);

}  // namespace backslice::jax
