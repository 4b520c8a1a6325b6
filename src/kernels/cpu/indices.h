// Row kernels of sparse indices: the box that holds the rows of a list, and which rows lie in a box.
//
// A row has one index per axis. Vectors look at rows of up to four axes that lie packed one after the other, or in one
// dense list per axis; all other rows are looked at one by one, elsewhere.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>

namespace backslice {

inline constexpr int kMostVectorAxes = 4;

// Where the indices of the first row lie, by axis.
struct IndexPointers {
  const std::byte* axis[kMostVectorAxes];
};

// low <= index <= high on each axis, in the range of the indices' type. No box is empty.
struct IndexBox {
  std::int64_t low[kMostVectorAxes], high[kMostVectorAxes];
};

// How many bits were set, in how many runs.
struct SetBits {
  std::int64_t count = 0, runs = 0;
  std::uint32_t last = 0;  // the last bit

  // The next bits, those of one vector.
  void add(std::uint32_t bits, std::int64_t lanes) {
    count += std::popcount(bits);
    runs += std::popcount(bits & ~(bits << 1 | last));
    last = bits >> (lanes - 1);
  }
};

// How far two lists went together, whether they ended because rows differed, and the rows in the box until then.
struct Followed {
  std::int64_t rows = 0;
  bool differ = false;
  SetBits found;
};

struct IndexKernels {
  // Sets bit i % 8 of bits[i / 8] where row i lies in the box. Precondition: the bits are zero.
  SetBits (*inside)(IndexPointers rows, std::int64_t count, const IndexBox& box, std::uint8_t* bits);

  // The same for as long as the rows in the box are, one by one, those of the other list plus start; in steps of whole
  // vectors, which both lists must have left. Precondition: all of the box less start is in the range of the indices.
  Followed (*follow)(IndexPointers rows, std::int64_t count, IndexPointers others, std::int64_t others_count,
                     const IndexBox& box, const std::int64_t* start, std::uint8_t* bits);

  // The smallest box of these rows. Precondition: there is one.
  IndexBox (*bounds)(IndexPointers rows, std::int64_t count);
};

// By the lists' layout, then by the number of axes less one.
struct IndexKernelTable {
  IndexKernels packed[kMostVectorAxes], columns[kMostVectorAxes];
};

}  // namespace backslice
