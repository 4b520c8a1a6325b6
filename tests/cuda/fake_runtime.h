// A CUDA runtime without a device: what it was asked, and what it is to answer.
//
// The linker puts it in the place of the functions that the library calls (-Wl,--wrap). Kernels do nothing, and the
// device's memory is the CPU's, so that operations run until their last kernel is queued.
#pragma once

#include <cuda_runtime_api.h>

#include <set>
#include <vector>

#include "backslice/view.h"

namespace backslice::testing {

struct FakeRuntime {
  // What it answers.
  cudaError_t launch = cudaSuccess, wait = cudaSuccess, allocate = cudaSuccess, free_in_order = cudaSuccess;
  int launches_before_failing = 0;
  bool captures = false;  // every stream; none can be waited for then

  // What it was asked.
  int launches = 0;
  int queued = 0;  // launches, copies and requests for memory
  int freed_after_waiting = 0;
  std::set<void*> allocated;
  cudaError_t last = cudaSuccess;  // what cudaGetLastError() will tell
};

extern FakeRuntime fake;

// Memory that counts as the device's.
inline View there(std::vector<float>& memory, Ints shape) {
  return View::contiguous(memory.data(), DType::Float32, shape, 0, Device::cuda(0)).value();
}

}  // namespace backslice::testing
