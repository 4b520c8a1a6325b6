// What becomes one element of a result, and elements joined into one tensor.
#pragma once

#include <span>

#include "ops/call.h"

namespace backslice::tensor_array {

// The sum of these tensors, which somebody else holds; zeros where there are none.
struct Element {
  Shape shape;
  std::span<const Tensor> terms;
};

// The sum of one element's terms.
Result<Tensor> sum_of(const Element& element, DType dtype, std::int64_t item_size, const Call& call);

// The elements one after the other, in a tensor of that shape, which has room for exactly them. A view where they are
// single tensors that lie next to each other in one block, otherwise written in one pass.
Result<Tensor> join_elements(std::span<const Element> elements, const Shape& shape, DType dtype, std::int64_t item_size,
                             const Call& call);

// The same into memory of that size, which was checked and shares none of theirs.
Status join_elements_into(std::span<const Element> elements, const View& out, const Call& call);

// Whether a view shares memory with a term of an element.
bool shares_memory(const ConstView& view, std::span<const Element> elements);

}  // namespace backslice::tensor_array
