// com.microsoft::SliceGrad, the gradient of ONNX's Slice, as ONNX Runtime for training has it.
#pragma once

#include "op.h"

namespace backslice::onnxruntime {

extern const OpDescription kSliceGrad;

}  // namespace backslice::onnxruntime
