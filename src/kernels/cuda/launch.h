// Launching kernels of one thread per part of some work. For sources that nvcc compiles.
#pragma once

#include <type_traits>

#include "kernels/cuda/runtime.h"

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

// So many blocks of kBlock threads. `name` is for messages.
template <class... Parameters>
void launch_blocks(void (*kernel)(Parameters...), const char* name, std::uint32_t blocks, DeviceStream queue,
                   const std::type_identity_t<Parameters>&... arguments) {
  if (blocks == 0) return;
  check(launch_grid(kernel, dim3(blocks), kBlock, queue.stream, arguments...), name, queue.ordinal);
}

// One thread for each of `threads` parts.
template <class... Parameters>
void launch(void (*kernel)(Parameters...), const char* name, std::uint32_t threads, DeviceStream queue,
            const std::type_identity_t<Parameters>&... arguments) {
  launch_blocks(kernel, name, threads / kBlock + (threads % kBlock != 0), queue, arguments...);
}

}  // namespace backslice::cuda
