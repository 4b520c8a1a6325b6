// A slice as the specifications define it, position by position. Every dialect's normal form is compared with this
// model.
//
// Arithmetic is in 128 bits, and axes are lists of positions, to keep the model obviously right. For small extents.
#pragma once

#include <algorithm>
#include <optional>
#include <vector>

#include "backslice/selection.h"

namespace backslice::fuzz {

struct NaiveSlice {
  std::vector<std::vector<std::int64_t>> axes;  // the selected positions of each input axis
  std::vector<std::int64_t> result_axes;        // as in Selection
};

inline bool matches(const Selection& selection, const NaiveSlice& model) {
  if (!std::ranges::equal(selection.result_axes(), model.result_axes)) return false;
  if (static_cast<std::size_t>(selection.shape().rank()) != model.axes.size()) return false;
  for (std::size_t i = 0; i < model.axes.size(); ++i) {
    const Selection::Axis& axis = selection.axis(static_cast<int>(i));
    if (axis.count != static_cast<std::int64_t>(model.axes[i].size())) return false;
    for (std::int64_t k = 0; k < axis.count; ++k) {
      if (axis.start + k * axis.step != model.axes[i][static_cast<std::size_t>(k)]) return false;
    }
  }
  return true;
}

using Wide = __int128;

// Returns start, start + step, ... on the axis and before stop.
inline std::vector<std::int64_t> walk(Wide start, Wide stop, Wide step, std::int64_t extent) {
  std::vector<std::int64_t> positions;
  for (Wide at = start; step > 0 ? at < stop : at > stop; at += step) {
    if (at < 0 || at >= extent) break;
    positions.push_back(static_cast<std::int64_t>(at));
  }
  return positions;
}

// Does what Python's slice(start, stop, step).indices(extent) does. Precondition: step != 0.
inline std::vector<std::int64_t> python_range(std::optional<std::int64_t> start, std::optional<std::int64_t> stop,
                                              std::int64_t step, std::int64_t extent) {
  const Wide lowest = step > 0 ? 0 : -1, highest = step > 0 ? extent : extent - 1;
  const auto bound = [&](std::optional<std::int64_t> given, Wide missing) {
    if (!given) return missing;
    const Wide from_start = *given < 0 ? Wide{*given} + extent : Wide{*given};
    return std::clamp(from_start, lowest, highest);
  };
  return walk(bound(start, step > 0 ? lowest : highest), bound(stop, step > 0 ? highest : lowest), step, extent);
}

// Returns the position of an integer index, or nullopt if it is not on the axis.
inline std::optional<std::int64_t> python_position(std::int64_t index, std::int64_t extent) {
  const Wide position = index < 0 ? Wide{index} + extent : Wide{index};
  if (position < 0 || position >= extent) return std::nullopt;
  return static_cast<std::int64_t>(position);
}

inline std::vector<std::int64_t> whole_axis(std::int64_t extent) { return walk(0, extent, 1, extent); }

// Returns nullopt if NumPy raises.
std::optional<NaiveSlice> naive_index(const std::vector<std::int64_t>& shape, const Index& index);
// Returns nullopt if TensorFlow refuses the slice.
std::optional<NaiveSlice> naive_tf(const std::vector<std::int64_t>& shape, const TfSlice& slice);
// Returns nullopt if ONNX Runtime refuses the slice.
std::optional<NaiveSlice> naive_onnx(const std::vector<std::int64_t>& shape, const OnnxSlice& slice);

}  // namespace backslice::fuzz
