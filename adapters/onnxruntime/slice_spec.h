// The arguments of ONNX's Slice, as inputs of a node: starts, ends, and optionally axes and steps.
#pragma once

#include "backslice/onnx_slice.h"
#include "backslice/selection.h"
#include "list_input.h"

namespace backslice::onnxruntime {

/// The inputs `first`, `first` + 1, ... of a node.
class SliceInputs {
 public:
  SliceInputs(const Node& node, std::size_t first);

  OnnxSlice read(const Call& call) const;

  /// What read() answers at every run, if no run changes that.
  std::optional<OnnxSlice> constant() const;

  /// Whether read() would answer this.
  bool hold(const Call& call, const OnnxSlice& slice) const;

 private:
  ListInput starts_, ends_, axes_, steps_;
};

/// Refuses a dY that has more or fewer elements than the slice, of which it has the elements in row-major order, in any
/// shape.
void check_elements(const Input& dy, const Shape& slice);

/// dY, so checked, with the shape of the slice.
ConstView shaped_like(const Selection& selection, Input& dy);

}  // namespace backslice::onnxruntime
