// Launching kernels of one thread per part of some work. For sources that nvcc compiles.
#pragma once

#include <type_traits>

#include "kernels/cuda/runtime.h"

namespace backslice::cuda {

inline constexpr unsigned kBlock = 256;

// So many blocks of kBlock threads. `name` is for messages. The error is the launch's own: what others left behind on
// this thread is not looked at.
template <class... Parameters>
void launch_blocks(void (*kernel)(Parameters...), const char* name, std::uint32_t blocks, DeviceStream queue,
                   const std::type_identity_t<Parameters>&... arguments) {
  if (blocks == 0) return;
  void* pointers[] = {const_cast<void*>(static_cast<const void*>(&arguments))...};
  check(cudaLaunchKernel(reinterpret_cast<const void*>(kernel), dim3(blocks), dim3(kBlock), pointers, 0, queue.stream),
        name, queue.ordinal);
}

// One thread for each of `threads` parts.
template <class... Parameters>
void launch(void (*kernel)(Parameters...), const char* name, std::uint32_t threads, DeviceStream queue,
            const std::type_identity_t<Parameters>&... arguments) {
  launch_blocks(kernel, name, threads / kBlock + (threads % kBlock != 0), queue, arguments...);
}

}  // namespace backslice::cuda
