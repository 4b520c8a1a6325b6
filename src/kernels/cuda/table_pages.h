// The kernels that put tables into memory of a device, launched.
#pragma once

#include <cuda_runtime_api.h>

#include <cstddef>

namespace backslice::cuda {

// Copies `size` bytes, a multiple of 16, as arguments of kernels. `to` is aligned to 16 bytes.
cudaError_t upload_pages(const std::byte* bytes, std::size_t size, std::byte* to, cudaStream_t stream);

}  // namespace backslice::cuda
