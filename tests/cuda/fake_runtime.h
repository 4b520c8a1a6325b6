// A CUDA runtime without a device: it records its calls, and gives prescribed answers.
//
// The linker puts it in the place of the functions that the library calls (-Wl,--wrap). Kernels do nothing, and the
// devices' memory is the CPU's, so operations run until their last kernel is queued. All streams are the default one's.
#pragma once

#include <cuda_runtime_api.h>

#include <map>
#include <set>
#include <vector>

#include "backslice/dtype_of.h"
#include "backslice/view.h"

namespace backslice::testing {

struct FakeRuntime {
  struct Block {
    std::size_t bytes;
    int device;
  };

  // The prescribed answers.
  cudaError_t launch = cudaSuccess, wait = cudaSuccess, allocate = cudaSuccess, free_in_order = cudaSuccess;
  int launches_before_failing = 0;
  bool captures = false;  // every stream; none can be waited for then
  int devices = 1;
  int current = 0;                    // the current device
  std::map<const void*, Block> lent;  // memory of the test's that counts as a device's

  // The recorded calls.
  int launches = 0;
  int queued = 0;  // launches, copies and requests for memory
  int freed_after_waiting = 0;
  std::map<const void*, Block> allocated;
  std::set<int> used;              // devices that were current while something was queued, given back or waited for
  cudaError_t last = cudaSuccess;  // the next result of cudaGetLastError()
};

extern FakeRuntime fake;

// Memory that counts as the device's.
template <class T>
View there(std::vector<T>& memory, Ints shape, int device = 0) {
  fake.lent[memory.data()] = {memory.size() * sizeof(T), device};
  return View::contiguous(memory.data(), dtype_of<T>, shape, 0, Device::cuda(device)).value();
}

}  // namespace backslice::testing
