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

  /// The result of read() at every run, if it is constant.
  std::optional<OnnxSlice> constant() const;

  /// Whether read() would return the kept lists, `shape` first. May return false wrongly.
  bool hold(const Call& call, const ListInput& shape, const KeptLists& lists) const {
    return lists.are_held_by(call, shape, starts_, ends_, axes_, steps_);
  }

 private:
  ListInput starts_, ends_, axes_, steps_;
};

/// The lists that hold() compares.
KeptLists kept(const std::vector<std::int64_t>& shape, const OnnxSlice& slice);

/// Refuses a dY with more or fewer elements than the slice. dY has the elements of the slice in row-major order, in any
/// shape.
void check_elements(const Input& dy, const Shape& slice);

/// Returns the checked dY with the shape of the slice.
ConstView shaped_like(const Selection& selection, Input& dy);

}  // namespace backslice::onnxruntime
