// Waiting for the memory of many buffers at once, for code that is compiled with and without CUDA.
#pragma once

#include <span>

#include "backslice/buffer.h"
#include "backslice/device.h"
#include "backslice/status.h"

namespace backslice::cuda {

// As cuda_await() of each of them, but a stream that several of them are of is waited for once.
Status await_all(std::span<const Buffer* const> buffers, CudaStream stream);

}  // namespace backslice::cuda
