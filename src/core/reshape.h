// Reads a tensor with other extents, in row-major order.
#pragma once

#include <optional>

#include "backslice/view.h"

namespace backslice {

// Returns the layout of the same elements in the same row-major order under another shape, or nullopt if strides cannot
// express it. Precondition: equal numbers of elements.
std::optional<Layout> reshape(const Layout& layout, const Shape& shape);

}  // namespace backslice
