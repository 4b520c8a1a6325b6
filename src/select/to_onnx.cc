// Selection -> ONNX Slice, and the Squeeze and Unsqueeze around it.
#include <limits>

#include "backslice/selection.h"
#include "select/axis_math.h"

namespace backslice {

namespace {

// Returns a stop in range, or the least integer for "down to the beginning". Values that ONNX and TensorFlow read
// differently are never written. ONNX Runtime reads the greatest int32 as "all the way", also on longer axes; so this
// stop is counted from the end.
std::int64_t end_of(const Selection::Axis& axis, std::int64_t extent) {
  const std::int64_t stop = stop_of(axis);
  if (stop < 0) return std::numeric_limits<std::int64_t>::min();
  return stop == std::numeric_limits<std::int32_t>::max() && stop != extent ? stop - extent : stop;
}

}  // namespace

// Whole axes are not listed.
OnnxNodes Selection::to_onnx() const {
  OnnxNodes nodes;
  nodes.slice.axes.emplace();
  nodes.slice.steps.emplace();
  for (int i = 0; i < shape_.rank(); ++i) {
    if (is_dropped(i)) nodes.squeeze.push_back(i);
    if (is_whole(i)) continue;
    const Axis& axis = axes_[i];
    nodes.slice.axes->push_back(i);
    nodes.slice.starts.push_back(axis.start);
    nodes.slice.ends.push_back(end_of(axis, shape_[i]));
    nodes.slice.steps->push_back(axis.step);
  }
  for (int i = 0; i < result_axes_.size(); ++i) {
    if (result_axes_[i] == kNewAxis) nodes.unsqueeze.push_back(i);
  }
  return nodes;
}

}  // namespace backslice
