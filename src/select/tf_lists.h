// TfLists: a TfSlice whose lists are somebody else's, for callers that have no vectors and want to make none.
#pragma once

#include "backslice/selection.h"

namespace backslice {

// A mask is a set of 32 bits, and TensorFlow keeps the last one for itself.
inline constexpr std::size_t kMaxTfEntries = 31;

struct TfLists {
  Ints begin, end, strides;
  std::int32_t begin_mask = 0, end_mask = 0, ellipsis_mask = 0, new_axis_mask = 0, shrink_axis_mask = 0;
};

// What Selection::from_tf makes of a TfSlice.
Result<Selection> selection_from_tf(Ints shape, const TfLists& lists);

}  // namespace backslice
