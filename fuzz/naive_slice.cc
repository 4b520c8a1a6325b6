#include "fuzz/naive_slice.h"

#include <bit>
#include <limits>

namespace backslice::fuzz {
namespace {

using Shape = std::vector<std::int64_t>;

// Takes axes from the left; an ellipsis takes as many as the other items leave.
struct Taker {
  const Shape& shape;
  std::int64_t named;
  NaiveSlice slice = {};

  std::int64_t next() const { return static_cast<std::int64_t>(slice.axes.size()); }
  std::int64_t extent() const { return shape[slice.axes.size()]; }
  void keep(std::vector<std::int64_t> positions) {
    slice.result_axes.push_back(next());
    slice.axes.push_back(std::move(positions));
  }
  void drop(std::int64_t position) { slice.axes.push_back({position}); }
  void add_axis() { slice.result_axes.push_back(Selection::kNewAxis); }
  void take_ellipsis() {
    for (auto left = static_cast<std::int64_t>(shape.size()) - named; left > 0; --left) keep(whole_axis(extent()));
  }
  std::optional<NaiveSlice> finish(bool seen_ellipsis) {
    if (!seen_ellipsis) take_ellipsis();
    if (slice.result_axes.size() > static_cast<std::size_t>(kMaxRank)) return std::nullopt;
    return slice;
  }
};

}  // namespace

std::optional<NaiveSlice> naive_index(const Shape& shape, const Index& index) {
  const auto count = [&](auto of) {
    return std::count_if(index.begin(), index.end(),
                         [](const IndexItem& i) { return std::holds_alternative<decltype(of)>(i); });
  };
  const std::int64_t named = count(std::int64_t{}) + count(SliceRange{}), ellipses = count(EllipsisItem{});
  if (named > static_cast<std::int64_t>(shape.size()) || ellipses > 1) return std::nullopt;
  Taker taker{shape, named};
  for (const IndexItem& item : index) {
    if (std::holds_alternative<EllipsisItem>(item)) {
      taker.take_ellipsis();
    } else if (std::holds_alternative<NewAxis>(item)) {
      taker.add_axis();
    } else if (const auto* integer = std::get_if<std::int64_t>(&item)) {
      const auto position = python_position(*integer, taker.extent());
      if (!position) return std::nullopt;
      taker.drop(*position);
    } else {
      const auto& range = std::get<SliceRange>(item);
      if (range.step == 0) return std::nullopt;
      taker.keep(python_range(range.start, range.stop, range.step.value_or(1), taker.extent()));
    }
  }
  return taker.finish(ellipses == 1);
}

std::optional<NaiveSlice> naive_tf(const Shape& shape, const TfSlice& slice) {
  const std::size_t entries = slice.begin.size();
  if (slice.end.size() != entries || slice.strides.size() != entries || entries >= 32) return std::nullopt;
  if (std::popcount(static_cast<std::uint32_t>(slice.ellipsis_mask)) > 1) return std::nullopt;
  const auto in = [](std::int32_t mask, std::size_t e) { return (mask >> e & 1) != 0; };
  std::int64_t named = 0;
  bool seen_ellipsis = false;
  for (std::size_t e = 0; e < entries; ++e) {
    seen_ellipsis |= in(slice.ellipsis_mask, e);
    named += !in(slice.ellipsis_mask, e) && !in(slice.new_axis_mask, e);
  }
  if (named > static_cast<std::int64_t>(shape.size())) return std::nullopt;
  Taker taker{shape, named};
  for (std::size_t e = 0; e < entries; ++e) {
    if (in(slice.ellipsis_mask, e)) {
      taker.take_ellipsis();
    } else if (in(slice.new_axis_mask, e)) {
      taker.add_axis();
    } else if (slice.strides[e] == 0) {
      return std::nullopt;
    } else if (in(slice.shrink_axis_mask, e)) {
      const auto position = python_position(slice.begin[e], taker.extent());
      if (!position || slice.strides[e] < 0) return std::nullopt;
      taker.drop(*position);
    } else {
      const auto bound = [&](std::int32_t mask, std::int64_t given) {
        return in(mask, e) ? std::nullopt : std::optional(given);
      };
      taker.keep(python_range(bound(slice.begin_mask, slice.begin[e]), bound(slice.end_mask, slice.end[e]),
                              slice.strides[e], taker.extent()));
    }
  }
  return taker.finish(seen_ellipsis);
}

namespace {

// ONNX Runtime differs from Python: a start before the beginning is the beginning, also for negative steps. The
// greatest int32 and int64 as an end are the far end in the step's direction.
std::vector<std::int64_t> onnx_range(std::int64_t start, std::int64_t end, std::int64_t step, std::int64_t extent) {
  if (extent == 0) return {};
  const auto from_start = [&](std::int64_t given) { return given < 0 ? Wide{given} + extent : Wide{given}; };
  const Wide first = std::clamp<Wide>(from_start(start), 0, step > 0 ? extent : extent - 1);
  const bool all_the_way =
      end == std::numeric_limits<std::int32_t>::max() || end == std::numeric_limits<std::int64_t>::max();
  const Wide far = step > 0 ? extent : -1;
  return walk(first, all_the_way ? far : std::clamp<Wide>(from_start(end), step > 0 ? 0 : -1, extent), step, extent);
}

}  // namespace

std::optional<NaiveSlice> naive_onnx(const Shape& shape, const OnnxSlice& slice) {
  const std::size_t entries = slice.starts.size();
  if (slice.ends.size() != entries || (slice.axes && slice.axes->size() != entries) ||
      (slice.steps && slice.steps->size() != entries)) {
    return std::nullopt;
  }
  const auto rank = static_cast<std::int64_t>(shape.size());
  NaiveSlice model;
  for (std::int64_t axis = 0; axis < rank; ++axis) {
    model.axes.push_back(whole_axis(shape[static_cast<std::size_t>(axis)]));
    model.result_axes.push_back(axis);
  }
  std::vector<bool> sliced(shape.size());
  for (std::size_t e = 0; e < entries; ++e) {
    const auto axis = python_position(slice.axes ? (*slice.axes)[e] : static_cast<std::int64_t>(e), rank);
    const std::int64_t step = slice.steps ? (*slice.steps)[e] : 1;
    if (!axis || step == 0 || sliced[static_cast<std::size_t>(*axis)]) return std::nullopt;
    const auto at = static_cast<std::size_t>(*axis);
    sliced[at] = true;
    model.axes[at] = onnx_range(slice.starts[e], slice.ends[e], step, shape[at]);
  }
  return model;
}

}  // namespace backslice::fuzz
