// Elements of a list as parts of one tensor: rows that are views, tensors that lie next to each other, stacking.
#pragma once

#include <span>
#include <vector>

#include "backslice/tensor.h"
#include "execute/task_runner.h"

namespace backslice {

// Rows [lo, hi) along the first axis, as a view. Precondition: the rank is at least 1.
Tensor rows_of(const Tensor& tensor, std::int64_t lo, std::int64_t hi);

// Row `row` along the first axis, without that axis.
Tensor row_of(const Tensor& tensor, std::int64_t row);

// Whether its elements lie one after the other.
bool is_dense(const Tensor& tensor);

// [count, inner...]. No elements may have extents whose product is no Shape's: [0, 2^40, 2^40] is one.
Result<Shape> stacked_shape(std::int64_t count, Ints inner);

// What becomes one element of a result: the sum of these tensors, which somebody else holds; zeros where there are
// none.
struct Element {
  Shape shape;
  std::span<const Tensor> terms;
};

// The sum of one element's terms.
Result<Tensor> sum_of(const Element& element, DType dtype, std::int64_t item_size, const TaskRunner& runner);

// The elements one after the other, in a tensor of that shape, which has room for exactly them. A view where they are
// single tensors that lie next to each other in one block, otherwise written in one pass.
Result<Tensor> join_elements(std::span<const Element> elements, const Shape& shape, DType dtype, std::int64_t item_size,
                             const TaskRunner& runner);

}  // namespace backslice
