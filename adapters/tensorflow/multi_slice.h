// BacksliceMultiSlice, many slices of one tensor, and BacksliceMultiSliceGrad, their gradient in one pass.
//
// The slices are StridedSlice's: `entries` has rows (begin, end, stride), those of all slices one after the other, and
// is an input, so that it may change from call to call; `sizes` says how many rows each slice has and `masks` has five
// numbers per slice, begin, end, ellipsis, new axis and shrink. Each op is the gradient of the other.
#pragma once

#include <cstdint>
#include <vector>

#include "backslice/selection.h"
#include "kernel.h"

namespace backslice::tensorflow {

class MultiSlice {
 public:
  explicit MultiSlice(const Attributes& attributes);

  void compute(Call& call) const;  ///< ys of (x, entries)

 protected:
  std::vector<Selection> selections(Ints shape, const Input& entries) const;

 private:
  std::vector<std::int32_t> sizes_, masks_;
};

class MultiSliceGrad : public MultiSlice {
 public:
  using MultiSlice::MultiSlice;

  void compute(Call& call) const;  ///< dx of (shape, entries, dys...)
};

/// Registers both ops and their kernels.
void register_multi_slice();

}  // namespace backslice::tensorflow
