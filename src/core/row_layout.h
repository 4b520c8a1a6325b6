// One row of a tensor, as a layout of its own.
#pragma once

#include "backslice/view.h"

namespace backslice {

// The axes after the first. Precondition: there is a first, and their product fits int64_t.
inline Layout row_layout(const Layout& layout) {
  Layout row;
  Dims extents;
  for (int axis = 1; axis < layout.shape.rank(); ++axis) {
    extents.push_back(layout.shape[axis]);
    row.strides.push_back(layout.strides[axis]);
  }
  row.shape = *Shape::make(extents);
  row.item_size = layout.item_size;
  return row;
}

}  // namespace backslice
