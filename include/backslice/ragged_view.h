// RaggedSize and RaggedView: a ragged tensor in memory that the caller owns, as flat arrays.
//
// What makes a ragged tensor comes as a pair, too: ..._size says how much memory it takes, ..._into fills it.
//
//     RaggedSize size = *ragged_slice_size(rt, rows);            // of [[1, 2], [3]]: splits {3}, values [3]
//     std::vector<std::int64_t> splits(size.splits[0]);
//     std::vector<float> values(size.values[0]);
//     ragged_slice_into(rt, rows, {{*View::contiguous(splits.data(), DType::Int64, {size.splits[0]})},
//                                  *View::contiguous(values.data(), DType::Float32, size.values)});
#pragma once

#include <vector>

#include "backslice/view.h"

namespace backslice {

struct RaggedSize {
  std::vector<std::int64_t> splits;  // how long each list of splits is, outermost first: one more than its rows
  Shape values;
  DType dtype = DType::Float32;
  std::int64_t item_size = 0;         // of the values, in bytes
  DType splits_dtype = DType::Int64;  // of what would be made; memory of the caller's may be of the other
};

// Lists of splits, outermost first, each a vector of int32 or int64, and values: of exactly that size, any strides.
// They overlap neither themselves nor each other nor an input.
struct RaggedView {
  std::vector<View> splits;
  View values;
};

}  // namespace backslice
