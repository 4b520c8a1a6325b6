// The work of one thread that matches rows in any order, for kernels and for tests on the CPU: the n-th row of the
// slice with an index matches the n-th input row with that index.
//
// Rows of each list are sorted by their position in the box of the slice's rows, stably, so that rows with one index
// keep their order. If a position does not fit 64 bits, sorting takes several steps, last columns first.
#pragma once

#include <vector>

#include "kernels/sparse/device_found.h"
#include "kernels/sparse/first_not.h"

namespace backslice::cuda {

// -- Keys of rows: their position in a box, as one number, or as several if it does not fit 64 bits.

// Columns [first, end) as one number: the sum of coordinate * weight.
struct KeyColumns {
  int first = 0, end = 0, bits = 64;
  std::uint64_t weight[kMaxColumns] = {};
};

// All columns of a box, from the last to the first, in as few steps as 64 bits allow. A box without columns has one
// step.
std::vector<KeyColumns> key_columns(const IndexBounds& box, int rank);

// One list while it is sorted. `rows` are its rows; keys belong to the last step.
struct SortedRows {
  std::int64_t count;
  std::uint32_t *rows, *other_rows;
  std::uint64_t *keys, *other_keys;
};

// The numbers that are subtracted from the indices of a list for keys; `start` is null for the slice.
inline PerColumn key_origin(const PerColumn* start, const IndexBounds& box) {
  PerColumn from;
  for (int axis = 0; axis < kMaxColumns; ++axis) {
    const auto shift = static_cast<std::uint64_t>(start != nullptr ? start->of[axis] : 0);
    from.of[axis] = static_cast<std::int64_t>(static_cast<std::uint64_t>(box.low[axis]) + shift);
  }
  return from;
}

// Returns a row's key: its coordinates in the box. The arithmetic may wrap if indices change meanwhile.
template <class Read>
BACKSLICE_HD std::uint64_t key_of(const IndexList& list, const PerColumn& from, const KeyColumns& columns,
                                  std::int64_t row) {
  std::uint64_t key = 0;
  for (int axis = columns.first; axis < columns.end; ++axis) {
    const auto index = static_cast<std::uint64_t>(index_at<Read>(list, row, axis));
    key += (index - static_cast<std::uint64_t>(from.of[axis])) * columns.weight[axis];
  }
  return key;
}

// Rows in their sorted order: by key, or by all columns if the key is not all of them.
template <class Read>
struct Order {
  const Lists& lists;
  const SortedRows &input, &output;
  bool keys_are_exact;

  // Compares item i of the list with item p of the input: -1, 0 or 1 if it comes before, is equal, or comes after.
  BACKSLICE_HD int compare(bool is_output, std::int64_t i, std::int64_t p) const {
    const SortedRows& sorted = is_output ? output : input;
    if (keys_are_exact) {
      const std::uint64_t key = sorted.keys[i], wanted = input.keys[p];
      return key == wanted ? 0 : key < wanted ? -1 : 1;
    }
    return is_output ? compare_rows<Read>(lists.output, output.rows[i], lists.input, input.rows[p], &lists.start)
                     : compare_rows<Read>(lists.input, input.rows[i], lists.input, input.rows[p], nullptr);
  }

  // Returns the item of the slice that matches item p of the input, or -1.
  BACKSLICE_HD std::int64_t partner(std::int64_t p) const {
    std::int64_t first = p;  // with this index
    if (p > 0 && compare(false, p - 1, p) == 0) {
      first = first_not(p, [&](std::int64_t i) { return compare(false, i, p) < 0; });
    }
    const std::int64_t at =
        first_not(output.count, [&](std::int64_t j) { return compare(true, j, p) < 0; }) + p - first;
    return at < output.count && compare(true, at, p) == 0 ? at : -1;
  }
};

}  // namespace backslice::cuda
