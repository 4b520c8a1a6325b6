/// @file
/// RaggedSize and RaggedView: a ragged tensor in memory that the caller owns, as flat arrays.
///
/// Operations that make a ragged tensor come as a pair, too: ..._size says how much memory it takes, ..._into fills it.
///
///     Result<RaggedSize> size = ragged_slice_size(rows, rt);     // of [[1, 2], [3]]: splits {3}, values [3]
///     if (!size) return size.status();
///     std::vector<std::int64_t> splits(size->splits[0]);
///     std::vector<float> values(size->values.elements());
///     Result<View> split_view = View::of(splits, {size->splits[0]}), value_view = View::of(values, size->values);
///     if (!split_view || !value_view) return ...;
///     Status filled = ragged_slice_into(rows, rt, {{*split_view}, *value_view});
#pragma once

#include <vector>

#include "backslice/view.h"

namespace backslice {

/// The size of a ragged tensor's memory.
struct RaggedSize {
  std::vector<std::int64_t> splits;  ///< The length of each list of splits, outermost first: one more than its rows.
  Shape values;
  DType dtype = DType::Float32;
  std::int64_t item_size = 0;         ///< Of the values, in bytes.
  DType splits_dtype = DType::Int64;  ///< Of new splits; the caller's memory may have the other.
  Device device = {};                 ///< Where the values are; splits are always the CPU's.
};

/// Lists of splits, outermost first, each a vector of int32 or int64, and values: of exactly that size, any strides.
/// They overlap neither themselves nor each other nor an input.
struct RaggedView {
  std::vector<View> splits;
  View values;
};

}  // namespace backslice
