// TensorFlow's StridedSlice arguments -> Selection.
//
// It takes two steps, like TensorFlow's specification. First the masks are expanded, so that each input axis knows its
// entry of begin, end and strides, if any. Then each axis is resolved on its own.
#include <bit>

#include "backslice/selection.h"
#include "core/errors.h"
#include "core/per_axis.h"
#include "select/axis_math.h"
#include "select/result_axes.h"
#include "select/tf_lists.h"

namespace backslice {
namespace {

constexpr int kNoEntry = -1;  // the axis lies under the ellipsis

bool has(std::int32_t mask, int entry) { return (static_cast<std::uint32_t>(mask) >> entry & 1) != 0; }

// The entry of each input axis, and the origin of each result axis.
struct Expanded {
  PerAxis<int> entry_of;
  ResultAxes result_axes;
};

Status check_tf_lengths(const TfLists& slice) {
  const std::size_t size = slice.begin.size();
  if (slice.end.size() == size && slice.strides.size() == size && size <= kMaxTfEntries) return Status();
  const char* blamed = slice.end.size() != size ? "end" : slice.strides.size() != size ? "strides" : "begin";
  return invalid_argument(
             "Expected begin, end, and strides to be 1D equal size tensors with fewer than 32 entries, but",
             " begin has ", size, ", end has ", slice.end.size(), " and strides has ", slice.strides.size())
      .at(blamed);
}

Status expand(const Shape& shape, const TfLists& slice, Expanded& expanded) {
  if (std::popcount(static_cast<std::uint32_t>(slice.ellipsis_mask)) > 1) {
    return invalid_argument("Multiple ellipses in slice spec not allowed: ellipsis_mask is ", slice.ellipsis_mask)
        .at("ellipsis_mask");
  }
  const int entries = static_cast<int>(slice.begin.size());
  const auto is_ellipsis = [&](int e) { return has(slice.ellipsis_mask, e); };
  const auto is_new_axis = [&](int e) { return has(slice.new_axis_mask, e) && !is_ellipsis(e); };

  int named = 0;  // entries that each name one input axis
  int first_too_many = 0;
  bool seen_ellipsis = false;
  for (int e = 0; e < entries; ++e) {
    seen_ellipsis |= is_ellipsis(e);
    named += !is_ellipsis(e) && !is_new_axis(e);
    if (named <= shape.rank()) first_too_many = e + 1;
  }
  if (named > shape.rank()) {
    return invalid_argument("Index out of range using input dim ", shape.rank(), "; input has only ", shape.rank(),
                            " dims, but begin has entries for ", named)
        .at("begin", first_too_many);
  }

  int axis = 0;
  const auto take_ellipsis = [&] {
    for (int left = shape.rank() - named; left > 0; --left) {
      expanded.entry_of[axis] = kNoEntry;
      expanded.result_axes.push_back(axis++);
    }
  };
  for (int e = 0; e < entries; ++e) {
    if (is_ellipsis(e)) {
      take_ellipsis();
    } else if (is_new_axis(e)) {
      expanded.result_axes.push_back(Selection::kNewAxis);
    } else {
      if (!has(slice.shrink_axis_mask, e)) expanded.result_axes.push_back(axis);
      expanded.entry_of[axis++] = e;
    }
  }
  if (!seen_ellipsis) take_ellipsis();
  return Status();
}

Result<Selection::Axis> explicit_tf_axis(const TfLists& slice, int entry, int axis, std::int64_t extent) {
  const auto at = static_cast<std::size_t>(entry);
  const std::int64_t begin = slice.begin[at], end = slice.end[at], stride = slice.strides[at];
  if (stride == 0) {
    return invalid_argument("strides[", entry, "] must be non-zero (axis ", axis, ")").at("strides", entry);
  }
  if (has(slice.shrink_axis_mask, entry)) {
    if (stride < 0) {
      return invalid_argument("only stride 1 allowed on non-range indexing: strides[", entry, "] is ", stride,
                              " (axis ", axis, ")")
          .at("strides", entry);
    }
    const std::int64_t index = from_end(begin, extent);
    if (index < 0 || index >= extent) {
      return invalid_argument("slice index ", begin, " of dimension ", axis, " out of bounds: begin[", entry,
                              "] must lie in [", -extent, ",", extent, ")")
          .at("begin", entry);
    }
    return Selection::Axis{index, 1, 1};
  }
  return axis_from_range(
      has(slice.begin_mask, entry) ? default_start(extent, stride) : clamp_bound(begin, extent, stride),
      has(slice.end_mask, entry) ? default_stop(extent, stride) : clamp_bound(end, extent, stride), stride);
}

}  // namespace

Result<Selection> selection_from_tf(Ints dims, const TfLists& slice) {
  const auto lower = [&](Selection& selection) -> Status {
    if (!detail::set_shape(selection.shape_, dims)) return Shape::make(dims).status();
    const Shape& shape = selection.shape_;
    BACKSLICE_RETURN_IF_ERROR(check_tf_lengths(slice));
    Expanded expanded;
    BACKSLICE_RETURN_IF_ERROR(expand(shape, slice, expanded));
    for (int i = 0; i < shape.rank(); ++i) {
      const int entry = expanded.entry_of[i];
      const auto axis =
          entry == kNoEntry ? Selection::Axis{0, 1, shape[i]} : explicit_tf_axis(slice, entry, i, shape[i]);
      if (!axis.ok()) return axis.status();
      selection.axes_.push_back(*axis);
    }
    return selection.set_result(expanded.result_axes, "new_axis_mask");
  };
  Result<Selection> made{Selection()};
  if (Status refused = lower(*made); !refused.ok()) made = std::move(refused);
  return made;
}

Result<Selection> Selection::from_tf(Ints shape, const TfSlice& slice) {
  return without_throwing([&] { return selection_from_tf(shape, lists_of(slice)); });
}

}  // namespace backslice
