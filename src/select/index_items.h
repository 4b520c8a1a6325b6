// The items of an index, one by one, for tensors whose axes do not all have known extents.
#pragma once

#include "backslice/selection.h"

namespace backslice {

// Resolves a slice along an axis of that extent. `axis` is for the error message.
Result<Selection::Axis> axis_of_slice(const SliceRange& range, int axis, std::int64_t extent);

// The same for an integer or a slice.
Result<Selection::Axis> axis_of_item(const IndexItem& item, int axis, std::int64_t extent);

// Returns how many axes of a tensor of that rank the items name. OutOfRange for two ellipses and for too many items.
Result<int> count_named_axes(const Index& index, int rank);

// Returns the same index with one item per axis, and new axes between them. Whole slices take the place of the ellipsis
// and of unnamed axes.
Result<Index> with_every_axis(const Index& index, int rank);

}  // namespace backslice
