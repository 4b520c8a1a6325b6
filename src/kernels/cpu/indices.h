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

// Rows are answered for by bits, a word of 64 rows at a time: bit i % 64 of word i / 64 is row i's.
inline constexpr std::int64_t kWordRows = 64;

// How many bits were set, in how many runs.
struct SetBits {
  std::int64_t count = 0, runs = 0;
  std::uint64_t last = 0;  // the last bit

  void add(std::uint64_t word) {
    count += std::popcount(word);
    runs += std::popcount(word & ~(word << 1 | last));
    last = word >> (kWordRows - 1);
  }
};

// Why two lists no longer go together.
enum class Parted {
  NotYet,
  Ended,       // the other list has no more rows
  Differ,      // a row in the box is not the next one of the other list
  OutsideBox,  // the next row of the other list lies outside the box
};

// How far two lists went together, in whole words, and the rows that are in both until then.
struct Followed {
  std::int64_t rows = 0;
  Parted parted = Parted::NotYet;
  SetBits found;
};

struct IndexKernels {
  // Writes the words of these rows: a bit is set where its row lies in the box.
  SetBits (*inside)(IndexPointers rows, std::int64_t count, const IndexBox& box, std::uint64_t* words);

  // The same for as long as the rows in the box are, one by one, those of the other list plus start, and the next of
  // those lies in the box too: rows outside are not in the other list then, whatever the box is. Preconditions: all of
  // the box less start is in the range of the indices; the first of the others, plus start, lies in the box.
  Followed (*follow)(IndexPointers rows, std::int64_t count, IndexPointers others, std::int64_t others_count,
                     const IndexBox& box, const std::int64_t* start, std::uint64_t* words);

  // The smallest box of these rows. Precondition: there is one.
  IndexBox (*bounds)(IndexPointers rows, std::int64_t count);
};

// By the lists' layout, then by the number of axes less one.
struct IndexKernelTable {
  IndexKernels packed[kMostVectorAxes], columns[kMostVectorAxes];
};

}  // namespace backslice
