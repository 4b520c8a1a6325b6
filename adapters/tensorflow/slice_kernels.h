// The kernels of StridedSlice, SparseSlice and their gradients. Their fast implementations are the library's, the plain
// ones those of reference.h.
#pragma once

#include <span>

#include "backslice/selection.h"
#include "kernel.h"

namespace backslice::tensorflow {

/// The masks are attributes of the node, the lists are inputs.
class StridedSlice {
 public:
  explicit StridedSlice(const Attributes& attributes);

  void compute(Call& call, bool is_fast) const;  ///< y of (x, begin, end, strides)

 protected:
  /// Returns the slice whose lists are the inputs from `first` on.
  TfSlice slice(const Call& call, int first) const;

 private:
  TfSlice masks_;
};

class StridedSliceGrad : public StridedSlice {
 public:
  using StridedSlice::StridedSlice;

  void compute(Call& call, bool is_fast) const;  ///< dx of (shape, begin, end, strides, dy)
};

class SparseSlice {
 public:
  explicit SparseSlice(const Attributes&) {}

  void compute(Call& call, bool is_fast) const;  ///< (indices, values, shape) of (indices, values, shape, start, size)
};

class SparseSliceGrad {
 public:
  explicit SparseSliceGrad(const Attributes&) {}

  void compute(Call& call, bool is_fast) const;  ///< dvalues of (grad, input_indices, input_start, output_indices)
};

/// Makes slices of x, which is input 0, the outputs of a call. Consecutive rows share its memory if TensorFlow's own
/// StridedSlice would share it too, so that no slice keeps more memory alive than with TensorFlow.
void set_slices(Call& call, std::span<const Selection> selections, const ConstView& x, int data_type);

}  // namespace backslice::tensorflow
