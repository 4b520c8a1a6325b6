// The shape of what is read from a TensorArray: of one element, of elements stacked, and joined along their first axis.
#pragma once

#include <span>

#include "tensor_array/elements.h"
#include "tensor_array/state.h"

namespace backslice::tensor_array {

// [indices, element...]: the elements agree in shape. Of no elements, `element_shape` must be known.
Result<Shape> stacked_elements(const State& array, Ints indices, std::span<const Element> elements,
                               const PartialShape& element_shape);

// [rows, ...]: the elements agree in all extents but the first, and with element_shape_except0. Of no elements, that
// and the array's own element shape must say the extents after the first.
Result<Shape> concatenated_elements(const State& array, std::span<const Element> elements,
                                    const PartialShape& element_shape_except0);

}  // namespace backslice::tensor_array
