// All operators that the library has.
#pragma once

#include "op.h"

namespace backslice::onnxruntime {

/// The gradient of ONNX's Slice, as in ONNX Runtime for training: in domain backslice, and in com.microsoft on request.
extern const OpDescription kSliceGrad;

/// Domain backslice.
extern const OpDescription kStridedSliceGrad, kSliceGradAccumulate, kMultiSliceGrad, kSparseSliceGrad, kRaggedGradient;

}  // namespace backslice::onnxruntime
