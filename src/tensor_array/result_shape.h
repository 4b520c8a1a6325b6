// The shape of a result read from a TensorArray: one element, elements stacked, or joined along their first axis.
#pragma once

#include <span>

#include "tensor_array/elements.h"
#include "tensor_array/state.h"

namespace backslice::tensor_array {

// Returns [indices, element...]. All elements have one shape. If there are none, `element_shape` must be known.
Result<Shape> stacked_elements(const State& array, Ints indices, std::span<const Element> elements,
                               const PartialShape& element_shape);

// Returns [rows, ...]. All elements agree in all extents but the first, and with element_shape_except0. If there are no
// elements, that shape and the array's own element shape must determine the extents after the first.
Result<Shape> concatenated_elements(const State& array, std::span<const Element> elements,
                                    const PartialShape& element_shape_except0);

}  // namespace backslice::tensor_array
