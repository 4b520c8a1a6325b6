// One row of a tensor as a layout, and shapes with other rows.
#pragma once

#include <algorithm>
#include <vector>

#include "backslice/view.h"

namespace backslice {

// Returns the extents after the first axis. Precondition: there is a first axis. If there are no rows, the product of
// the others may overflow int64_t; a row then has no elements.
inline Layout row_layout(const Layout& layout) {
  Layout row;
  Dims extents;
  for (int axis = 1; axis < layout.shape.rank(); ++axis) {
    extents.push_back(layout.shape[axis]);
    row.strides.push_back(layout.strides[axis]);
  }
  const auto shape = Shape::make(extents);
  row.shape =
      shape.ok() ? *shape : *Shape::make(std::vector<std::int64_t>(static_cast<std::size_t>(extents.size()), 0));
  row.item_size = layout.item_size;
  return row;
}

// Precondition: there is a first axis.
inline std::int64_t elements_per_row(const Shape& shape) {
  return shape.elements() / std::max<std::int64_t>(1, shape[0]);
}

// Returns the shape with that many rows. Precondition: it has a first axis, and at least that many rows.
inline Shape with_rows(const Shape& shape, std::int64_t rows) {
  Dims dims(shape);
  dims[0] = rows;
  return *Shape::make(dims);  // at most the elements of an existing shape
}

}  // namespace backslice
