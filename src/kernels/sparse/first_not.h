// A binary search for the CPU and for CUDA devices.
#pragma once

#include <cstdint>

#include "kernels/cuda/portable.h"

namespace backslice {

// Returns the first of 0, ..., count - 1 that is not `before`, or count.
template <class Before>
BACKSLICE_HD std::int64_t first_not(std::int64_t count, const Before& before) {
  std::int64_t low = 0;
  while (count > 0) {
    const std::int64_t half = count / 2;
    if (before(low + half)) {
      low += half + 1;
      count -= half + 1;
    } else {
      count = half;
    }
  }
  return low;
}

}  // namespace backslice
