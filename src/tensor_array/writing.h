// Writing elements, one or many: the part that all writing operations share.
//
// An operation makes the tensors to store, locks its slots, checks everything, and only then changes anything. Sums,
// and the rows of a block, are made between two such locks.
#pragma once

#include <span>

#include "tensor_array/state.h"

namespace backslice::tensor_array {

// An element to be written: a part of the given value. Small, since there may be many at once.
struct ElementWrite {
  enum class Part { Whole, Row, Rows };
  std::int64_t index;
  Part part = Part::Whole;
  std::int64_t lo = 0, hi = 0;  // Row is row lo, Rows are [lo, hi)
  Slot* slot = nullptr;         // once it is locked
  std::size_t number = 0;       // in the order of the call

  Tensor of(const Tensor& value) const;
};

// Precondition of both: the value has the array's dtype. One element needs a Call only to be copied or added, which is
// rare.
Status write_element(State& array, std::int64_t index, const Tensor& value, const Context& context);
Status write_elements(State& array, const Tensor& value, std::span<ElementWrite> writes, ChosenBy chosen_by,
                      const Call& call);

}  // namespace backslice::tensor_array
