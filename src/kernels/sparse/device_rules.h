// The rules by which a GPU matches the rows of a sparse slice, as functions of one row. Kernels run them, and so do the
// tests on the CPU.
//
// A row of the input belongs to the slice if its index, less start, is a row of the slice. All is compared in the
// coordinates of the slice; a difference that overflows is the index of no row.
#pragma once

#include <cstddef>
#include <cstdint>

#include "kernels/cuda/portable.h"

namespace backslice::cuda {

inline constexpr int kMaxColumns = 32;
inline constexpr std::int64_t kNoSliceRow = -1;

// Index lists as kernels are given them: by value.
struct IndexList {
  const std::byte* data[kMaxColumns];
  std::int64_t stride[kMaxColumns];  // bytes from one row to the next
  std::int64_t rows;
  int rank;
  bool is_paired;  // two columns side by side, aligned so that one load reads a row
};

// The indices of a row on an even column and on the next, which is 0 where there is none.
struct IndexPair {
  std::int64_t first, second;
};

struct PerColumn {
  std::int64_t of[kMaxColumns];
};

// Bounds that include both ends, in the coordinates of the slice; low > high where nothing is inside.
struct IndexBounds {
  std::int64_t low[kMaxColumns], high[kMaxColumns];
};

// How an index is read: aligned, two at a time, or byte by byte. kRank is the number of columns, or 0 for any.
template <class Index>
struct AlignedIndex {
  static constexpr int kRank = 0;
  static BACKSLICE_HD std::int64_t load(const std::byte* at) { return *reinterpret_cast<const Index*>(at); }
};

template <class Index>
struct PairedIndex : AlignedIndex<Index> {
  static constexpr int kRank = 2;
  static BACKSLICE_HD IndexPair load_pair(const std::byte* at) {
    struct alignas(2 * sizeof(Index)) Both {
      Index first, second;
    };
    const Both both = *reinterpret_cast<const Both*>(at);
    return {both.first, both.second};
  }
};

template <class Index>
struct UnalignedIndex {
  static constexpr int kRank = 0;
  static BACKSLICE_HD std::int64_t load(const std::byte* at) {
    std::uint64_t bits = 0;
    for (unsigned i = 0; i < sizeof(Index); ++i) {
      bits |= static_cast<std::uint64_t>(static_cast<std::uint8_t>(at[i])) << (8 * i);
    }
    return static_cast<Index>(bits);
  }
};

template <class Read>
BACKSLICE_HD std::int64_t index_at(const IndexList& list, std::int64_t row, int axis) {
  return Read::load(list.data[axis] + row * list.stride[axis]);
}

template <class Read>
BACKSLICE_HD IndexPair pair_at(const IndexList& list, std::int64_t row, int axis) {
  if constexpr (Read::kRank == 2) {
    return Read::load_pair(list.data[axis] + row * list.stride[axis]);
  } else {
    return {index_at<Read>(list, row, axis), axis + 1 < list.rank ? index_at<Read>(list, row, axis + 1) : 0};
  }
}

template <class Read>
BACKSLICE_HD int rank_of(const IndexList& list) {
  return Read::kRank != 0 ? Read::kRank : list.rank;
}

// False where index - start overflows.
BACKSLICE_HD bool slice_coordinate(std::int64_t index, std::int64_t start, std::int64_t& coordinate) {
  coordinate = static_cast<std::int64_t>(static_cast<std::uint64_t>(index) - static_cast<std::uint64_t>(start));
  return ((index ^ start) & (index ^ coordinate)) >= 0;
}

// The index becomes its coordinate in the slice; returns whether that is within these bounds.
BACKSLICE_HD bool is_within(std::int64_t& index, std::int64_t start, std::int64_t low, std::int64_t high) {
  return slice_coordinate(index, start, index) && low <= index && index <= high;
}

// -1, 0 or 1 as row i of a list comes before, at or after an input row, from which `start` is subtracted; the
// difference may wrap.
template <class Read>
BACKSLICE_HD int compare_rows(const IndexList& list, std::int64_t i, const IndexList& input, std::int64_t row,
                              const PerColumn* start) {
  for (int axis = 0; axis < input.rank; ++axis) {
    std::int64_t wanted = index_at<Read>(input, row, axis);
    if (start != nullptr) slice_coordinate(wanted, start->of[axis], wanted);
    const std::int64_t index = index_at<Read>(list, i, axis);
    if (index != wanted) return index < wanted ? -1 : 1;
  }
  return 0;
}

// The first of 0, ..., count - 1 that is not `before`, or count.
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

BACKSLICE_HD int count_bits(std::uint32_t word) {
#ifdef __CUDA_ARCH__
  return __popc(word);
#else
  return __builtin_popcount(word);
#endif
}

// The number of the first and of the last bit that is set. Precondition: one is.
BACKSLICE_HD int first_bit(std::uint32_t word) {
#ifdef __CUDA_ARCH__
  return __ffs(static_cast<int>(word)) - 1;
#else
  return __builtin_ctz(word);
#endif
}

BACKSLICE_HD int last_bit(std::uint32_t word) {
#ifdef __CUDA_ARCH__
  return 31 - __clz(static_cast<int>(word));
#else
  return 31 - __builtin_clz(word);
#endif
}

// What was found of the input: 32 rows to a word, 64 words to a tile, which one block looks at.
inline constexpr int kWordRows32 = 32, kTileWords = 64, kTileRows = kWordRows32 * kTileWords;

// The row of the slice of a row that may be found, given the found rows before its word.
BACKSLICE_HD std::int64_t slice_row_of(std::uint32_t word, int bit, std::int64_t before) {
  if ((word >> bit & 1) == 0) return kNoSliceRow;
  return before + count_bits(word & ((std::uint32_t{1} << bit) - 1));
}

}  // namespace backslice::cuda
