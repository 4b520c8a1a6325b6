// Reading elements, one or many: what all reading operations have in common.
//
// All checks come first, and the elements are claimed; then the caller makes a result of them, without a lock; and only
// when that has succeeded they count as read, and are released where the array is cleared after reading.
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

  ChosenBy chosen_by() const { return !indices ? kAll : join == Join::One ? kByIndex : kByIndices; }
};

// Whether elements count as read afterwards.
enum class Effect { None, Read };

// What becomes of the elements; the shape is the result's. They do not change meanwhile.
using UseElements = std::function<Status(std::span<const Element> elements, const Shape& shape)>;

// Reads one element where that takes no more than sharing its one term, as nearly always on the CPU; nothing where it
// takes more. What the element no longer holds goes to `released`.
std::optional<Result<Tensor>> take_term(State& array, std::int64_t index, std::vector<Tensor>& released);

Status read_elements(State& array, const Reading& reading, Effect effect, const Call& call, const UseElements& use);

}  // namespace backslice::tensor_array
