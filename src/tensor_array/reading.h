// Reading elements, one or many: the part that all reading operations share.
//
// All checks come first, and the elements are claimed. Then the caller makes a result of them, without a lock. Only if
// that succeeds do the elements count as read, and are released if the array is cleared after reading.
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
  // For Stack, the shape of every element, which becomes the array's element shape. For Concat, the same without the
  // first axis.
  PartialShape element_shape = {};

  ChosenBy chosen_by() const { return !indices ? kAll : join == Join::One ? kByIndex : kByIndices; }
};

// Whether elements count as read afterwards.
enum class Effect { None, Read };

// Makes the result from the elements; `shape` is that of the result. The elements do not change meanwhile.
using UseElements = std::function<Status(std::span<const Element> elements, const Shape& shape)>;

// Reads one element if its one term can be shared, as is usual on the CPU; otherwise returns nullopt. Memory that the
// element no longer needs moves to `released`.
std::optional<Result<Tensor>> take_term(State& array, std::int64_t index, std::vector<Tensor>& released);

Status read_elements(State& array, const Reading& reading, Effect effect, const Call& call, const UseElements& use);

}  // namespace backslice::tensor_array
