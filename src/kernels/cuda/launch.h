// Launching kernels of one thread per part of some work. For sources that nvcc compiles.
//
// These are compiled by another compiler than the rest of the library, perhaps with another C++ library. So what they
// declare for it takes and returns numbers, pointers and plain structs, and no exception leaves them: CUB's are caught.
#pragma once

#include <cuda_runtime_api.h>

#include <cstddef>
#include <cstdint>
#include <type_traits>

namespace backslice::cuda {

inline constexpr unsigned kBlock = 256;

// As many multiprocessors as a large device has: what kernels whose blocks take turns are cut for.
inline constexpr int kMultiprocessors = 132;

// A grid of blocks of so many threads. The error is the launch's own: what others left behind on this thread, which
// cudaGetLastError() would tell, is not looked at.
template <class... Parameters>
cudaError_t launch_grid(void (*kernel)(Parameters...), dim3 grid, unsigned threads, cudaStream_t stream,
                        const std::type_identity_t<Parameters>&... arguments) {
  void* pointers[] = {const_cast<void*>(static_cast<const void*>(&arguments))...};
  return cudaLaunchKernel(reinterpret_cast<const void*>(kernel), grid, dim3(threads), pointers, 0, stream);
}

// How many blocks there are for so many parts.
inline std::uint32_t blocks_for(std::uint32_t parts, std::uint32_t per_block = kBlock) {
  return parts / per_block + (parts % per_block != 0);
}

// So many blocks of kBlock threads.
template <class... Parameters>
cudaError_t launch_blocks(void (*kernel)(Parameters...), std::uint32_t blocks, cudaStream_t stream,
                          const std::type_identity_t<Parameters>&... arguments) {
  if (blocks == 0) return cudaSuccess;
  return launch_grid(kernel, dim3(blocks), kBlock, stream, arguments...);
}

// One thread for each of `threads` parts.
template <class... Parameters>
cudaError_t launch(void (*kernel)(Parameters...), std::uint32_t threads, cudaStream_t stream,
                   const std::type_identity_t<Parameters>&... arguments) {
  return launch_blocks(kernel, blocks_for(threads), stream, arguments...);
}

// The kernels that put tables into memory of a device, launched.

// Copies `size` bytes, a multiple of 16, as arguments of kernels. `to` is aligned to 16 bytes.
cudaError_t upload_pages(const std::byte* bytes, std::size_t size, std::byte* to, cudaStream_t stream);

}  // namespace backslice::cuda
