// The items of an index, one by one: for tensors whose axes are not all known as extents.
#pragma once

#include "backslice/selection.h"

namespace backslice {

// The items of a slice along an axis of that extent. `axis` is for the message.
Result<Selection::Axis> axis_of_slice(const SliceRange& range, int axis, std::int64_t extent);

// The same of an integer or a slice.
Result<Selection::Axis> axis_of_item(const IndexItem& item, int axis, std::int64_t extent);

// How many axes of a tensor of that rank the items name. OutOfRange for two ellipses, and for too many.
Result<int> count_named_axes(const Index& index, int rank);

// The same index with one item per axis, and new axes between them: whole slices instead of the ellipsis, and for what
// is not named.
Result<Index> with_every_axis(const Index& index, int rank);

}  // namespace backslice
