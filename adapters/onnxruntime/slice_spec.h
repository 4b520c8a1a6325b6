// The arguments of ONNX's Slice, as inputs of a node: starts, ends, and optionally axes and steps.
#pragma once

#include "backslice/onnx_slice.h"
#include "backslice/selection.h"
#include "call.h"

namespace backslice::onnxruntime {

/// From the inputs `first`, `first` + 1, ...
OnnxSlice slice_spec(const Call& call, std::size_t first);

/// Refuses a dY that has not as many elements as the slice. Its shape may be any.
void check_elements(const Input& dy, const Selection& selection);

}  // namespace backslice::onnxruntime
