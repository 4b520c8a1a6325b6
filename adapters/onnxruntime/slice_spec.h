// The arguments of ONNX's Slice, as inputs of a node: starts, ends, and optionally axes and steps.
#pragma once

#include "backslice/onnx_slice.h"
#include "backslice/selection.h"
#include "call.h"
#include "node.h"

namespace backslice::onnxruntime {

/// The inputs `first`, `first` + 1, ... of a node. They are read when the kernel is made where all are constant.
class SliceInputs {
 public:
  SliceInputs(const Node& node, std::size_t first);

  OnnxSlice read(const Call& call) const;
  const std::optional<OnnxSlice>& constant() const { return constant_; }

 private:
  std::size_t first_;
  std::optional<OnnxSlice> constant_;
};

/// dY with the shape of the slice, whose elements it has in row-major order, in any shape. Refused where it has more or
/// fewer.
ConstView shaped_like(const Selection& selection, Input& dy);
ConstView shaped_like(const Layout& slice, Input& dy);

}  // namespace backslice::onnxruntime
