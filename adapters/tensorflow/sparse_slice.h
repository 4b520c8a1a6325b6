// The kernels of SparseSlice and SparseSliceGrad.
#pragma once

#include "kernel.h"

namespace backslice::tensorflow {

class SparseSlice {
 public:
  explicit SparseSlice(const Attributes&) {}

  Status compute(Call& call) const;  ///< (indices, values, shape) of (indices, values, shape, start, size)
};

class SparseSliceGrad {
 public:
  explicit SparseSliceGrad(const Attributes&) {}

  Status compute(Call& call) const;  ///< dvalues of (grad, input_indices, input_start, output_indices)
};

}  // namespace backslice::tensorflow
