// Selection -> ONNX Slice, and the Squeeze and Unsqueeze around it.
#include <limits>

#include "backslice/selection.h"
#include "select/axis_math.h"

namespace backslice {

// Bounds are in range, or the least integer for "down to the beginning": what ONNX and TensorFlow read differently is
// never written. Axes that stay whole are left out.
OnnxNodes Selection::to_onnx() const {
  OnnxNodes nodes;
  nodes.slice.axes.emplace();
  nodes.slice.steps.emplace();
  for (int i = 0; i < shape_.rank(); ++i) {
    if (is_dropped(i)) nodes.squeeze.push_back(i);
    if (is_whole(i)) continue;
    const Axis& axis = axes_[i];
    const std::int64_t end = stop_of(axis);
    nodes.slice.axes->push_back(i);
    nodes.slice.starts.push_back(axis.start);
    nodes.slice.ends.push_back(end < 0 ? std::numeric_limits<std::int64_t>::min() : end);
    nodes.slice.steps->push_back(axis.step);
  }
  for (int i = 0; i < result_axes_.size(); ++i) {
    if (result_axes_[i] == kNewAxis) nodes.unsqueeze.push_back(i);
  }
  return nodes;
}

}  // namespace backslice
