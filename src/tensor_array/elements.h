// The elements of a result, joined into one tensor.
#pragma once

#include <span>

#include "ops/call.h"

namespace backslice::tensor_array {

// Returns the sum of these tensors, which other owners keep alive; zeros if there are none.
struct Element {
  Shape shape;
  std::span<const Tensor> terms;
};

// Returns the sum of one element's terms.
Result<Tensor> sum_of(const Element& element, DType dtype, std::int64_t item_size, const Call& call);

// Returns the elements one after the other, in a tensor of that shape, which has room for exactly them. The result is a
// view if they are single tensors that are adjacent in one block; otherwise it is written in one pass.
Result<Tensor> join_elements(std::span<const Element> elements, const Shape& shape, DType dtype, std::int64_t item_size,
                             const Call& call);

// The same into the caller's memory of that size. It was checked, and overlaps none of the elements.
Status join_elements_into(std::span<const Element> elements, const View& out, const Call& call);

// Returns whether a view shares memory with a term of an element.
bool shares_memory(const ConstView& view, std::span<const Element> elements);

}  // namespace backslice::tensor_array
