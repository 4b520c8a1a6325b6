// Writing elements, one or many: what all writing operations have in common.
//
// An operation makes what it will store, then locks its slots, checks everything, and only then changes anything. Sums,
// and the rows of a block, are made between two times that it has the locks.
#pragma once

#include <span>

#include "tensor_array/state.h"

namespace backslice::tensor_array {

// An element to be written: a part of the value that is given. Many are kept at once, so they are small.
struct ElementWrite {
  enum class Part { Whole, Row, Rows };
  std::int64_t index;
  Part part = Part::Whole;
  std::int64_t lo = 0, hi = 0;  // Row is row lo, Rows are [lo, hi)
  Slot* slot = nullptr;         // once it is locked
  std::size_t number = 0;       // in the order of the call

  Tensor of(const Tensor& value) const;
};

// Preconditions of both: the value has the array's dtype. One element needs a Call only where it is copied or added up,
// and most are neither.
Status write_element(State& array, std::int64_t index, const Tensor& value, const Context& context);
Status write_elements(State& array, const Tensor& value, std::span<ElementWrite> writes, ChosenBy chosen_by,
                      const Call& call);

}  // namespace backslice::tensor_array
