// Launches kernels with one thread per part of the work. For sources that nvcc compiles.
//
// Another compiler compiles the rest of the library, perhaps with another C++ library. So these functions take and
// return numbers, pointers and plain structs, and throw nothing: CUB's exceptions are caught.
#pragma once

#include <cuda_runtime_api.h>

#include <cstddef>
#include <cstdint>
#include <type_traits>

namespace backslice::cuda {

inline constexpr unsigned kBlock = 256;

// The number of multiprocessors of a large device, for kernels whose blocks take turns.
inline constexpr int kMultiprocessors = 132;

// Launches a grid of blocks of so many threads. Returns the launch's own error, not an earlier one of this thread,
// which cudaGetLastError() would return.
template <class... Parameters>
cudaError_t launch_grid(void (*kernel)(Parameters...), dim3 grid, unsigned threads, cudaStream_t stream,
                        const std::type_identity_t<Parameters>&... arguments) {
  void* pointers[] = {const_cast<void*>(static_cast<const void*>(&arguments))...};
  return cudaLaunchKernel(reinterpret_cast<const void*>(kernel), grid, dim3(threads), pointers, 0, stream);
}

// Returns the number of blocks for so many parts.
inline std::uint32_t blocks_for(std::uint32_t parts, std::uint32_t per_block = kBlock) {
  return parts / per_block + (parts % per_block != 0);
}

// Launches so many blocks of kBlock threads.
template <class... Parameters>
cudaError_t launch_blocks(void (*kernel)(Parameters...), std::uint32_t blocks, cudaStream_t stream,
                          const std::type_identity_t<Parameters>&... arguments) {
  if (blocks == 0) return cudaSuccess;
  return launch_grid(kernel, dim3(blocks), kBlock, stream, arguments...);
}

// Launches one thread for each of `threads` parts.
template <class... Parameters>
cudaError_t launch(void (*kernel)(Parameters...), std::uint32_t threads, cudaStream_t stream,
                   const std::type_identity_t<Parameters>&... arguments) {
  return launch_blocks(kernel, blocks_for(threads), stream, arguments...);
}

// Launches the kernels that put tables into device memory.

// Copies `size` bytes, a multiple of 16, as arguments of kernels. Precondition: `to` is aligned to 16 bytes.
cudaError_t upload_pages(const std::byte* bytes, std::size_t size, std::byte* to, cudaStream_t stream);

}  // namespace backslice::cuda
