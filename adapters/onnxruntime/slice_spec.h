// The arguments of ONNX's Slice, as inputs of a node: starts, ends, and optionally axes and steps.
#pragma once

#include "backslice/onnx_slice.h"
#include "backslice/selection.h"
#include "kept_lists.h"

namespace backslice::onnxruntime {

/// The inputs `first`, `first` + 1, ... of a node.
class SliceInputs {
 public:
  SliceInputs(const Node& node, std::size_t first);

  OnnxSlice read(const Call& call) const;

  /// What read() answers at every run, if no run changes that.
  std::optional<OnnxSlice> constant() const;

  /// Whether read() would give the lists that were kept, `shape` first. May say no where it would.
  bool hold(const Call& call, const ListInput& shape, const KeptLists& lists) const {
    return lists.are_held_by(call, shape, starts_, ends_, axes_, steps_);
  }

 private:
  ListInput starts_, ends_, axes_, steps_;
};

/// What hold() compares.
KeptLists kept(const std::vector<std::int64_t>& shape, const OnnxSlice& slice);

/// Refuses a dY that has more or fewer elements than the slice, of which it has the elements in row-major order, in any
/// shape.
void check_elements(const Input& dy, const Shape& slice);

/// dY, so checked, with the shape of the slice.
ConstView shaped_like(const Selection& selection, Input& dy);

}  // namespace backslice::onnxruntime
