// The work of one thread of a block that finds the rows of a slice in a tile of the input, for kernels and for tests on
// the CPU.
#pragma once

#include "kernels/sparse/device_found.h"

namespace backslice::cuda {

inline constexpr int kFindThreads = 256, kFindWarps = kFindThreads / 32;
inline constexpr int kRowsPerThread = kTileRows / kFindThreads, kLaneWords = kTileWords / 32;
inline constexpr std::int64_t kLargest = 0x7fffffffffffffff, kSmallest = -kLargest - 1;

// -- The box of the slice's rows

BACKSLICE_HD std::int64_t smaller(std::int64_t a, std::int64_t b) { return a < b ? a : b; }
BACKSLICE_HD std::int64_t larger(std::int64_t a, std::int64_t b) { return a > b ? a : b; }

// The bounds of two pairs of columns: they fit registers, and a sector of memory holds as many int64.
inline constexpr int kBoundPairs = 2, kBoundColumns = 2 * kBoundPairs, kRowsAtOnce = 4;

struct ColumnBounds {
  std::int64_t low = kLargest, high = kSmallest;

  BACKSLICE_HD void take(std::int64_t index) {
    low = smaller(low, index);
    high = larger(high, index);
  }
};

// Returns the first of the columns that a block bounds.
template <class Read>
BACKSLICE_HD int bound_axis(const IndexList& list, unsigned block) {
  return rank_of<Read>(list) <= kBoundColumns ? 0 : static_cast<int>(block) * kBoundColumns;
}

// Computes the bounds of columns first_axis, first_axis + 1, ... over rows first, first + step, ...
template <class Read>
BACKSLICE_HD void bound_rows(const IndexList& list, int first_axis, std::int64_t first, std::int64_t step,
                             ColumnBounds (&bounds)[kBoundColumns]) {
  const int rank = rank_of<Read>(list);
  for (std::int64_t row = first; row < list.rows; row += kRowsAtOnce * step) {
    IndexPair pairs[kBoundPairs][kRowsAtOnce];
    BACKSLICE_UNROLL
    for (int p = 0; p < kBoundPairs; ++p) {
      BACKSLICE_UNROLL
      for (int k = 0; k < kRowsAtOnce; ++k) {  // past the end, the first of them again
        const std::int64_t at = row + k * step < list.rows ? row + k * step : row;
        if (first_axis + 2 * p < rank) pairs[p][k] = pair_at<Read>(list, at, first_axis + 2 * p);
      }
    }
    BACKSLICE_UNROLL
    for (int p = 0; p < kBoundPairs; ++p) {
      if (first_axis + 2 * p >= rank) break;
      BACKSLICE_UNROLL
      for (int k = 0; k < kRowsAtOnce; ++k) {
        bounds[2 * p].take(pairs[p][k].first);
        bounds[2 * p + 1].take(pairs[p][k].second);
      }
    }
  }
}

// -- The rows of a tile

// The words of found rows of a tile, and the number of found rows before each word.
struct TileWords {
  std::uint32_t words[kTileWords];
  std::int32_t before[kTileWords];
};

// Returns the word with row k of each thread of a warp.
BACKSLICE_HD int word_of(int k, int warp) { return k * kFindWarps + warp; }

// Each lane of a warp has some consecutive words. Returns the number of found rows in them.
BACKSLICE_HD int count_lane(const TileWords& tile, int lane) {
  int sum = 0;
  for (int w = 0; w < kLaneWords; ++w) sum += count_bits(tile.words[lane * kLaneWords + w]);
  return sum;
}

// Computes the number of found rows before each word; `next` is the number before the first.
BACKSLICE_HD void number_lane(TileWords& tile, int lane, int next) {
  for (int w = 0; w < kLaneWords; ++w) {
    tile.before[lane * kLaneWords + w] = next;
    next += count_bits(tile.words[lane * kLaneWords + w]);
  }
}

inline constexpr int kHalf = kRowsPerThread / 2;  // rows whose indices and expected indices fit registers together

// A thread's rows of a tile: row k is bit k of a mask. Two columns are read at once, and several rows before the first
// comparison, so that many loads are in flight.
template <class Read>
class TileRows {
 public:
  BACKSLICE_HD TileRows(const Lists& lists, const IndexBounds& box, std::int64_t tile, unsigned thread)
      : lists_(lists), box_(box), first_(tile * kTileRows + thread) {}

  // Returns the rows that are in the box.
  BACKSLICE_HD unsigned inside() const {
    unsigned rows = existing();
    for (int axis = 0; axis < rank_of<Read>(lists_.input); axis += 2) {
      IndexPair pairs[kRowsPerThread] = {};
      rows = read(axis, rows, pairs);
    }
    return rows;
  }

  // Returns whether one of them differs from row slice_row(k) of the slice, which it must be.
  template <class SliceRow>
  BACKSLICE_HD bool have_parted(const SliceRow& slice_row) const {
    bool parted = false;
    for (int axis = 0; axis < rank_of<Read>(lists_.input); axis += 2) {
      BACKSLICE_UNROLL
      for (int begin = 0; begin < kRowsPerThread; begin += kHalf) parted |= differ(axis, begin, slice_row);
    }
    return parted;
  }

 private:
  BACKSLICE_HD unsigned existing() const {
    unsigned rows = 0;
    for (int k = 0; k < kRowsPerThread; ++k) rows |= static_cast<unsigned>(at(k) < lists_.input.rows) << k;
    return rows;
  }

  // Computes the coordinates of the rows in `rows`; returns which of them are in the box.
  BACKSLICE_HD unsigned read(int axis, unsigned rows, IndexPair (&pairs)[kRowsPerThread]) const {
    BACKSLICE_UNROLL
    for (int k = 0; k < kRowsPerThread; ++k) {
      if (rows >> k & 1) pairs[k] = pair_at<Read>(lists_.input, at(k), axis);
    }
    BACKSLICE_UNROLL
    for (int k = 0; k < kRowsPerThread; ++k) {
      bool inside = is_in_box(pairs[k].first, axis);
      if (axis + 1 < rank_of<Read>(lists_.input)) inside &= is_in_box(pairs[k].second, axis + 1);
      if (!inside) rows &= ~(1u << k);
    }
    return rows;
  }

  // Returns whether any of kHalf rows from `begin` on differs from its row of the slice.
  template <class SliceRow>
  BACKSLICE_HD bool differ(int axis, int begin, const SliceRow& slice_row) const {
    IndexPair found[kHalf] = {}, expected[kHalf] = {};
    BACKSLICE_UNROLL
    for (int k = 0; k < kHalf; ++k) {
      const std::int64_t row = slice_row(begin + k);
      if (row == kNoSliceRow) continue;
      found[k] = pair_at<Read>(lists_.input, at(begin + k), axis);
      expected[k] = pair_at<Read>(lists_.output, row, axis);
    }
    bool any = false;
    BACKSLICE_UNROLL
    for (int k = 0; k < kHalf; ++k) {
      if (slice_row(begin + k) == kNoSliceRow) continue;
      any |= !is_coordinate(found[k].first, axis, expected[k].first);
      if (axis + 1 < rank_of<Read>(lists_.input)) any |= !is_coordinate(found[k].second, axis + 1, expected[k].second);
    }
    return any;
  }

  BACKSLICE_HD std::int64_t at(int k) const { return first_ + k * kFindThreads; }
  BACKSLICE_HD bool is_coordinate(std::int64_t index, int axis, std::int64_t coordinate) const {
    return is_within(index, lists_.start.of[axis], coordinate, coordinate);
  }
  BACKSLICE_HD bool is_in_box(std::int64_t& index, int axis) const {
    return is_within(index, lists_.start.of[axis], box_.low[axis], box_.high[axis]);
  }

  const Lists& lists_;
  const IndexBounds& box_;
  std::int64_t first_;
};

}  // namespace backslice::cuda
