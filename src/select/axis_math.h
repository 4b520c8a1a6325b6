// Arithmetic that the dialects share: clamping a bound, counting a range, and the canonical form of an axis.
#pragma once

#include <algorithm>
#include <cstdint>

#include "backslice/selection.h"

namespace backslice {

// Returns the index of a position; a negative one counts from the end. Safe for every int64_t, since extent >= 0.
inline std::int64_t from_end(std::int64_t position, std::int64_t extent) {
  return position < 0 ? position + extent : position;
}

// Returns the canonical axis for the indices start, start + step, ... before stop. Precondition: step != 0 and both
// bounds lie in [-1, extent].
inline Selection::Axis axis_from_range(std::int64_t start, std::int64_t stop, std::int64_t step) {
  const std::int64_t length = stop - start;
  if (length == 0 || (length < 0) != (step < 0)) return {0, 1, 0};
  if (step == 1) return {start, 1, length};  // a division takes longer than all else here
  const std::int64_t count = length / step + (length % step != 0);
  return {start, count == 1 ? 1 : step, count};
}

// Resolves a given bound by the rule of TensorFlow and NumPy: a negative one counts from the end, and all are clamped
// to the range that the step can reach.
inline std::int64_t clamp_bound(std::int64_t bound, std::int64_t extent, std::int64_t step) {
  return step > 0 ? std::clamp<std::int64_t>(from_end(bound, extent), 0, extent)
                  : std::clamp<std::int64_t>(from_end(bound, extent), -1, extent - 1);
}

// Bounds that are not given: the ends of the axis, in the step's direction.
inline std::int64_t default_start(std::int64_t extent, std::int64_t step) { return step > 0 ? 0 : extent - 1; }
inline std::int64_t default_stop(std::int64_t extent, std::int64_t step) { return step > 0 ? extent : -1; }

// Returns floor(a / b) for b > 0.
inline std::int64_t floor_divide(std::int64_t a, std::int64_t b) { return a / b - (a % b < 0); }

// Returns which of the axis's indices (0 .. count) lie in [range.lo, range.hi).
inline Range taken_inside(const Selection::Axis& axis, Range range) {
  const std::int64_t step = axis.step > 0 ? axis.step : -axis.step;
  // A descending axis is an ascending one from its last index, with positions counted backwards.
  const std::int64_t lowest = axis.step > 0 ? axis.start : axis.start + (axis.count - 1) * axis.step;
  const auto places_before = [&](std::int64_t position) {
    return std::clamp<std::int64_t>(floor_divide(position - 1 - lowest, step) + 1, 0, axis.count);
  };
  const Range up{places_before(range.lo), places_before(range.hi)};
  return axis.step > 0 ? up : Range{axis.count - up.hi, axis.count - up.lo};
}

// Returns the other bound of the axis: one past the last index in the step's direction. It lies in [-1, extent].
inline std::int64_t stop_of(const Selection::Axis& axis) {
  return axis.start + (axis.count - 1) * axis.step + (axis.step > 0 ? 1 : -1);
}

}  // namespace backslice
