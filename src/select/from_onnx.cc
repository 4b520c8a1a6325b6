// ONNX Slice arguments -> Selection, as ONNX Runtime reads them.
#include <limits>

#include "backslice/selection.h"
#include "core/errors.h"
#include "core/per_axis.h"
#include "select/axis_math.h"

namespace backslice {
namespace {

constexpr std::int64_t kInt32Max = std::numeric_limits<std::int32_t>::max();
constexpr std::int64_t kInt64Max = std::numeric_limits<std::int64_t>::max();

Status check_onnx_lengths(const OnnxSlice& slice) {
  const std::size_t size = slice.starts.size();
  const auto differs = [&](std::size_t other, const char* argument) {
    if (other == size) return Status();
    return invalid_argument(argument, " has ", counted(other, "entry", "entries"), ", starts has ", size).at(argument);
  };
  BACKSLICE_RETURN_IF_ERROR(differs(slice.ends.size(), "ends"));
  if (slice.axes) BACKSLICE_RETURN_IF_ERROR(differs(slice.axes->size(), "axes"));
  if (slice.steps) BACKSLICE_RETURN_IF_ERROR(differs(slice.steps->size(), "steps"));
  return Status();
}

Selection::Axis explicit_onnx_axis(std::int64_t start, std::int64_t end, std::int64_t step, std::int64_t extent) {
  if (extent == 0) return {0, 1, 0};
  step = std::clamp(step, -extent, extent);
  // Unlike in TensorFlow, a start before the beginning means the beginning, also for negative steps.
  start = std::clamp<std::int64_t>(from_end(start, extent), 0, step > 0 ? extent : extent - 1);
  // The greatest integer of either type means "all the way" in the direction of the step.
  end = end == kInt32Max || end == kInt64Max
            ? default_stop(extent, step)
            : std::clamp<std::int64_t>(from_end(end, extent), step > 0 ? 0 : -1, extent);
  return axis_from_range(start, end, step);
}

}  // namespace

Result<Selection> Selection::from_onnx(Ints dims, const OnnxSlice& slice) {
  return without_throwing([&]() -> Result<Selection> {
    const auto shape = Shape::make(dims);
    if (!shape.ok()) return shape.status();
    BACKSLICE_RETURN_IF_ERROR(check_onnx_lengths(slice));

    Axes axes;
    PerAxis<bool> sliced{};
    Dims result_axes;
    const std::int64_t rank = shape->rank();
    for (int i = 0; i < rank; ++i) {
      axes.push_back({0, 1, (*shape)[i]});
      result_axes.push_back(i);
    }
    for (std::size_t e = 0; e < slice.starts.size(); ++e) {
      const std::int64_t given = slice.axes ? (*slice.axes)[e] : static_cast<std::int64_t>(e);
      const std::int64_t axis = from_end(given, rank), position = static_cast<std::int64_t>(e);
      if ((axis < 0 || axis >= rank) && !slice.axes) {
        return invalid_argument("starts has ", counted(slice.starts.size(), "entry", "entries"), ", but shape ", dims,
                                " has ", counted(rank, "axis", "axes"))
            .at("starts", position);
      }
      if (axis < 0 || axis >= rank) {
        return invalid_argument("axes[", e, "] is ", given, ", outside [", -rank, ",", rank, ") of shape ", dims)
            .at("axes", position);
      }
      if (sliced[axis]) {
        return invalid_argument("axes[", e, "] is ", given, ": axis ", axis, " is given twice").at("axes", position);
      }
      sliced[axis] = true;
      const std::int64_t step = slice.steps ? (*slice.steps)[e] : 1;
      if (step == 0) {
        return invalid_argument("steps[", e, "] must be non-zero (axis ", axis, ")").at("steps", position);
      }
      axes[axis] = explicit_onnx_axis(slice.starts[e], slice.ends[e], step, shape->begin()[axis]);
    }
    return assemble(*shape, axes, result_axes, "shape");
  });
}

}  // namespace backslice
