// Keys of rows: their position in a box, as one number, or as several where it does not fit 64 bits.
#pragma once

#include <vector>

#include "kernels/sparse/device_rules.h"

namespace backslice::cuda {

// Columns [first, end), as one number: the sum of coordinate * weight.
struct KeyColumns {
  int first = 0, end = 0, bits = 64;
  std::uint64_t weight[kMaxColumns] = {};
};

// All columns of a box, from the last to the first, in as few steps as 64 bits allow. A box without columns has one.
std::vector<KeyColumns> key_columns(const IndexBounds& box, int rank);

}  // namespace backslice::cuda
