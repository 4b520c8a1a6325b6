// The arguments of TensorFlow's Slice -> Selection.
#include "backslice/selection.h"
#include "core/errors.h"
#include "select/axis_math.h"

namespace backslice {
namespace {

constexpr std::int64_t kRest = -1;  // as a size: up to the end of the axis

// No bound counts from the end, and none is clamped.
Result<Selection::Axis> explicit_window_axis(std::int64_t begin, std::int64_t size, int axis, std::int64_t extent) {
  if (begin < 0 || begin > extent) {
    return invalid_argument("Expected begin[", axis, "] in [0, ", extent, "], but got ", begin).at("begin", axis);
  }
  const std::int64_t rest = extent - begin;
  if (size != kRest && (size < 0 || size > rest)) {
    return invalid_argument("Expected size[", axis, "] in [0, ", rest, "], or -1 for the rest, but got ", size)
        .at("size", axis);
  }
  return axis_from_range(begin, size == kRest ? extent : begin + size, 1);
}

}  // namespace

Result<Selection> Selection::from_begin_size(Ints dims, Ints begin, Ints size) {
  return without_throwing([&]() -> Result<Selection> {
    const auto shape = Shape::make(dims);
    if (!shape.ok()) return shape.status();
    const auto rank = static_cast<std::size_t>(shape->rank());
    if (begin.size() != rank || size.size() != rank) {
      return invalid_argument("Expected begin and size to have ", counted(rank, "entry", "entries"),
                              ", one per axis, but begin has ", begin.size(), " and size has ", size.size())
          .at(begin.size() != rank ? "begin" : "size");
    }
    Axes axes;
    Dims result_axes;
    for (int i = 0; i < shape->rank(); ++i) {
      const auto at = static_cast<std::size_t>(i);
      const auto axis = explicit_window_axis(begin[at], size[at], i, (*shape)[i]);
      if (!axis.ok()) return axis.status();
      axes.push_back(*axis);
      result_axes.push_back(i);
    }
    return assemble(*shape, axes, result_axes, "shape");
  });
}

}  // namespace backslice
