// Rows of a tensor along its first axis, as views.
#pragma once

#include "backslice/tensor.h"

namespace backslice {

// Returns the rows [lo, hi) along the first axis, as a view. Precondition: the rank is at least 1.
Tensor rows_of(const Tensor& tensor, std::int64_t lo, std::int64_t hi);

// Returns row `row` along the first axis, without that axis.
Tensor row_of(const Tensor& tensor, std::int64_t row);

// Returns the shape [count, inner...]. Without elements, the product of the extents may overflow: [0, 2^40, 2^40].
Result<Shape> stacked_shape(std::int64_t count, Ints inner);

}  // namespace backslice
