// TfLists: a TfSlice with borrowed lists, for callers that have no vectors and want to make none.
#pragma once

#include "backslice/selection.h"

namespace backslice {

// A mask is a set of 32 bits, of which TensorFlow reserves the last.
inline constexpr std::size_t kMaxTfEntries = 31;

struct TfLists {
  Ints begin, end, strides;
  std::int32_t begin_mask = 0, end_mask = 0, ellipsis_mask = 0, new_axis_mask = 0, shrink_axis_mask = 0;
};

inline TfLists lists_of(const TfSlice& slice) {
  return {slice.begin,    slice.end,           slice.strides,       slice.begin_mask,
          slice.end_mask, slice.ellipsis_mask, slice.new_axis_mask, slice.shrink_axis_mask};
}

// Does what Selection::from_tf does with a TfSlice, but has no boundary: it may throw.
Result<Selection> selection_from_tf(Ints shape, const TfLists& lists);

}  // namespace backslice
