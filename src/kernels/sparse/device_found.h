// Data that the kernels of a sparse operation pass on, as plain structs for kernels and for tests on the CPU.
//
// Finding and moving are separate, as on the CPU. Finding reads the indices and leaves a bit per input row; moving
// reads the bits. So nothing is moved before everything is found and checked, and later changes of the indices have no
// effect.
#pragma once

#include <cstddef>
#include <cstdint>

#include "backslice/device_status.h"
#include "kernels/cuda/portable.h"

namespace backslice::cuda {

// -- The rules by which a GPU matches the rows of a sparse slice, as functions of one row.
//
// A row of the input belongs to the slice if its index, less start, is a row of the slice. All is compared in the
// coordinates of the slice; a difference that overflows is the index of no row.

inline constexpr int kMaxColumns = 32;
inline constexpr std::int64_t kNoSliceRow = -1;

// Index lists, which are passed to kernels by value.
struct IndexList {
  const std::byte* data[kMaxColumns];
  std::int64_t stride[kMaxColumns];  // bytes from one row to the next
  std::int64_t rows;
  int rank;
  bool is_paired;  // two adjacent columns, aligned so that one load reads a row
};

// The indices of a row in an even column and in the next, which is 0 if there is none.
struct IndexPair {
  std::int64_t first, second;
};

struct PerColumn {
  std::int64_t of[kMaxColumns];
};

// Bounds that include both ends, in the coordinates of the slice; low > high if nothing is inside.
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

// Returns false if index - start overflows.
BACKSLICE_HD bool slice_coordinate(std::int64_t index, std::int64_t start, std::int64_t& coordinate) {
  coordinate = static_cast<std::int64_t>(static_cast<std::uint64_t>(index) - static_cast<std::uint64_t>(start));
  return ((index ^ start) & (index ^ coordinate)) >= 0;
}

// Turns the index into its coordinate in the slice; returns whether that is within these bounds.
BACKSLICE_HD bool is_within(std::int64_t& index, std::int64_t start, std::int64_t low, std::int64_t high) {
  return slice_coordinate(index, start, index) && low <= index && index <= high;
}

// Compares row i of a list with an input row, from which `start` is subtracted: -1, 0 or 1 if it comes before, is
// equal, or comes after. The difference may wrap.
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

BACKSLICE_HD int count_bits(std::uint32_t word) {
#ifdef __CUDA_ARCH__
  return __popc(word);
#else
  return __builtin_popcount(word);
#endif
}

// Returns the numbers of the first and of the last set bit. Precondition: a bit is set.
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

// The found rows of the input: 32 rows per word, 64 words per tile, which one block handles.
inline constexpr int kWordRows32 = 32, kTileWords = 64, kTileRows = kWordRows32 * kTileWords;

// Returns the slice row of a row that may be found, from the number of found rows before its word.
BACKSLICE_HD std::int64_t slice_row_of(std::uint32_t word, int bit, std::int64_t before) {
  if ((word >> bit & 1) == 0) return kNoSliceRow;
  return before + count_bits(word & ((std::uint32_t{1} << bit) - 1));
}

// -- Finding and moving

// How an index is read.
enum class IndexKind { Int32, Int64, UnalignedInt32, UnalignedInt64 };

// Input, slice, and the offset between them.
struct Lists {
  IndexList input, output;
  PerColumn start;
  IndexKind kind;
};

// Calls the visitor with the way to read indices as a type.
template <class Visitor>
auto visit_reads(IndexKind kind, const Visitor& visitor) {
  switch (kind) {
    case IndexKind::Int32: return visitor.template operator()<AlignedIndex<std::int32_t>>();
    case IndexKind::Int64: return visitor.template operator()<AlignedIndex<std::int64_t>>();
    case IndexKind::UnalignedInt32: return visitor.template operator()<UnalignedIndex<std::int32_t>>();
    default: return visitor.template operator()<UnalignedIndex<std::int64_t>>();
  }
}

// The same for callers that need both columns of two-column lists at once.
template <class Visitor>
auto visit_pair_reads(const Lists& lists, const Visitor& visitor) {
  const bool is_paired = lists.input.is_paired && lists.output.is_paired;
  if (is_paired && lists.kind == IndexKind::Int32) return visitor.template operator()<PairedIndex<std::int32_t>>();
  if (is_paired && lists.kind == IndexKind::Int64) return visitor.template operator()<PairedIndex<std::int64_t>>();
  return visit_reads(lists.kind, visitor);
}

struct FoundHeader {
  IndexBounds box;
  std::int64_t found;     // input rows found, those past the end of the slice too
  std::int64_t used;      // rows of the slice that were found
  std::int64_t expected;  // and was required to be
  int has_parted;         // the rows in the box are not the slice's, one by one
  int is_refused;         // nothing is moved
};

// Pointers to device memory.
struct Found {
  FoundHeader* header;
  std::int32_t* counts;  // per tile, its number of found rows
  std::int64_t* first;   // per tile, the slice row of the first row found in it
  std::uint32_t* words;  // per 32 rows, the found ones
  std::int32_t* before;  // per word, the number of found rows in its tile before it
  std::int32_t* joined;  // per row, its row in the slice or kNoSliceRow; null: use the words

  // Returns the slice row of the first found row in a word.
  BACKSLICE_HD std::int64_t first_of(std::int64_t word) const { return first[word / kTileWords] + before[word]; }

  // Returns the slice row of a row, or kNoSliceRow; it may lie past the end of the slice.
  BACKSLICE_HD std::int64_t slice_row(std::int64_t row) const {
    if (joined != nullptr) return joined[row];
    const std::int64_t word = row / kWordRows32;
    return slice_row_of(words[word], static_cast<int>(row % kWordRows32), first_of(word));
  }

  static BACKSLICE_HD std::int64_t tiles(std::int64_t rows) { return (rows + kTileRows - 1) / kTileRows; }

  // How many bytes they need, and they, in memory of that size that is aligned to 64 bytes.
  static std::int64_t bytes(std::int64_t rows) {
    std::int64_t all = 0;
    lay_out(rows, [&](std::int64_t bytes) {
      all += bytes;
      return nullptr;
    });
    return all;
  }
  static Found at(std::byte* memory, std::int64_t rows) {
    return lay_out(rows, [&](std::int64_t bytes) {
      std::byte* taken = memory;
      memory += bytes;
      return taken;
    });
  }

 private:
  template <class Take>
  static Found lay_out(std::int64_t rows, const Take& take) {
    const std::int64_t tiles = Found::tiles(rows);
    const auto array = [&]<class T>(T*& pointer, std::int64_t items) {
      const std::int64_t bytes = items * static_cast<std::int64_t>(sizeof(T));
      pointer = reinterpret_cast<T*>(static_cast<std::byte*>(take((bytes + 63) / 64 * 64)));
    };
    Found found{};
    array(found.header, 1);
    array(found.counts, tiles);
    array(found.first, tiles);
    array(found.words, tiles * kTileWords);
    array(found.before, tiles * kTileWords);
    return found;
  }
};

// Ends finding: stores how many rows of the slice were found, and whether they are refused. If the lists differ, the
// walk has stored how many were used. `expected` is the required number; negative accepts any.
BACKSLICE_HD void finish_header(FoundHeader& header, std::int64_t expected, std::int64_t slice_rows,
                                DeviceStatus* status) {
  if (header.has_parted == 0) header.used = header.found < slice_rows ? header.found : slice_rows;
  header.expected = expected < 0 ? header.used : expected;
  header.is_refused = header.used != header.expected;
  if (status == nullptr) return;
  status->refused = header.is_refused;
  status->found = header.used;
  status->expected = header.expected;
}

}  // namespace backslice::cuda
