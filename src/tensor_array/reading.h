// Reading elements, one or many: what all reading operations have in common.
//
// All checks come first; then the caller makes a result of the elements, and only when that has succeeded they count as
// read, and are released where the array is cleared after reading.
#pragma once

#include <functional>

#include "tensor_array/elements.h"
#include "tensor_array/state.h"

namespace backslice::tensor_array {

struct Reading {
  enum class Join {
    One,     // one element, as it is
    Stack,   // [indices, element...]
    Concat,  // joined along their first axis
  };
  Join join;
  std::optional<Ints> indices = {};  // nothing: all
  // For Stack, what every element's is, which becomes the array's; for Concat, the same without the first axis.
  PartialShape element_shape = {};
};

// Whether elements count as read afterwards.
enum class Effect { None, Read };

// What becomes of the elements; the shape is the result's. They are locked meanwhile.
using UseElements = std::function<Status(std::span<const Element> elements, const Shape& shape)>;

Status read_elements(State& array, const Reading& reading, Effect effect, const Call& call, const UseElements& use);

}  // namespace backslice::tensor_array
