// All operators that the library has.
#pragma once

#include "op.h"

namespace backslice::onnxruntime {

/// Domain com.microsoft: the gradient of ONNX's Slice, as ONNX Runtime for training has it.
extern const OpDescription kSliceGrad;

/// Domain backslice.
extern const OpDescription kStridedSliceGrad, kSliceGradAccumulate, kMultiSliceGrad, kSparseSliceGrad, kRaggedGradient;

}  // namespace backslice::onnxruntime
