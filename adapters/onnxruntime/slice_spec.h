// The arguments of ONNX's Slice, as inputs of a node: starts, ends, and optionally axes and steps.
#pragma once

#include "backslice/onnx_slice.h"
#include "backslice/selection.h"
#include "call.h"

namespace backslice::onnxruntime {

/// From the inputs `first`, `first` + 1, ...
OnnxSlice slice_spec(const Call& call, std::size_t first);

/// dY with the shape of the slice, whose elements it has in row-major order, in any shape. Refused where it has more or
/// fewer.
ConstView shaped_like(const Selection& selection, Input& dy);

}  // namespace backslice::onnxruntime
