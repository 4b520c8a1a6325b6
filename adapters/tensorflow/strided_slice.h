// The kernels of StridedSlice and StridedSliceGrad.
#pragma once

#include "backslice/tf_slice.h"
#include "kernel.h"

namespace backslice::tensorflow {

/// The masks are attributes of the node, the lists are inputs.
class StridedSlice {
 public:
  explicit StridedSlice(const Attributes& attributes);

  Status compute(Call& call) const;  ///< y of (x, begin, end, strides)

 protected:
  /// The slice whose lists are the inputs from `first` on.
  Result<TfSlice> slice(const Call& call, int first) const;

 private:
  TfSlice masks_;
};

class StridedSliceGrad : public StridedSlice {
 public:
  using StridedSlice::StridedSlice;

  Status compute(Call& call) const;  ///< dx of (shape, begin, end, strides, dy)
};

}  // namespace backslice::tensorflow
