/// @file
/// TfSlice: the arguments of TensorFlow's StridedSlice.
///
/// begin, end and strides have one entry per position, fewer than 32. The masks are sets of positions: in begin_mask
/// and end_mask the bound is the far end; ellipsis_mask stands for all axes that the others leave over;
/// new_axis_mask inserts an axis of extent 1; shrink_axis_mask takes one index and drops the axis.
///
///     x[1:3, ..., 2]  is  TfSlice{.begin = {1, 0, 2}, .end = {3, 0, 3}, .strides = {1, 1, 1},
///                                 .ellipsis_mask = 0b010, .shrink_axis_mask = 0b100}
#pragma once

#include <cstdint>
#include <vector>

namespace backslice {

/// The arguments of TensorFlow's StridedSlice.
struct TfSlice {
  std::vector<std::int64_t> begin = {}, end = {}, strides = {};
  std::int32_t begin_mask = 0;
  std::int32_t end_mask = 0;
  std::int32_t ellipsis_mask = 0;
  std::int32_t new_axis_mask = 0;
  std::int32_t shrink_axis_mask = 0;

  friend bool operator==(const TfSlice&, const TfSlice&) = default;
};

}  // namespace backslice
