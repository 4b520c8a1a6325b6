// The axes of a slice as written, and the meaning of each in every notation.
#include <algorithm>
#include <limits>

#include "backslice/notation.h"
#include "core/errors.h"
#include "select/axis_math.h"
#include "select/index_items.h"

namespace backslice {
namespace {

using Limits = std::numeric_limits<std::int64_t>;

// One axis of a slice as it was written.
struct Entry {
  int axis;
  std::int64_t extent;
  SliceRange range;

  std::int64_t step() const { return range.step.value_or(1); }
};

struct SlicedAxis {
  std::size_t position;
  int axis;
};

// Finds the positions of a slice that take a range of an axis, and the axis of each. Such an axis leaves the result
// when its position becomes an integer index. with_indices(mask) returns the selection, of extents of 1, in which the
// positions of the mask are integer indices.
template <class WithIndices>
Result<std::vector<SlicedAxis>> sliced_axes(std::size_t count, const WithIndices& with_indices) {
  const Result<Selection> all = with_indices(0);
  if (!all.ok()) return all.status();
  std::vector<SlicedAxis> found;
  for (std::size_t i = 0; i < count; ++i) {
    const Result<Selection> without = with_indices(std::uint64_t{1} << i);
    if (!without.ok()) return without.status();
    for (int axis = 0; axis < all->shape().rank(); ++axis) {
      if (!all->is_dropped(axis) && without->is_dropped(axis)) found.push_back({i, axis});
    }
  }
  return found;
}

std::vector<Entry> onnx_entries(Ints shape, const OnnxSlice& slice) {
  std::vector<Entry> entries;
  for (std::size_t i = 0; i < slice.starts.size(); ++i) {
    const std::int64_t axis =
        from_end(slice.axes ? (*slice.axes)[i] : static_cast<std::int64_t>(i), static_cast<std::int64_t>(shape.size()));
    const SliceRange range{slice.starts[i], slice.ends[i], slice.steps ? (*slice.steps)[i] : 1};
    entries.push_back({static_cast<int>(axis), shape[static_cast<std::size_t>(axis)], range});
  }
  return entries;
}

// Returns the positions that slice an axis: no new axes and no integer indices.
Result<std::vector<Entry>> tf_entries(Ints shape, const TfSlice& slice) {
  const std::size_t count = slice.begin.size();
  TfSlice plain = slice;
  plain.begin.assign(count, 0);
  plain.end.assign(count, 1);
  plain.strides.assign(count, 1);
  const std::vector<std::int64_t> ones(shape.size(), 1);
  const auto axes = sliced_axes(count, [&](std::uint64_t positions) {
    TfSlice shrunk = plain;
    shrunk.shrink_axis_mask |= static_cast<std::int32_t>(positions);
    return Selection::from_tf(ones, shrunk);
  });
  if (!axes.ok()) return axes.status();
  const auto bound = [](std::int32_t mask, std::size_t i, std::int64_t value) {
    return (static_cast<std::uint32_t>(mask) >> i & 1) != 0 ? std::nullopt : std::optional(value);
  };
  std::vector<Entry> entries;
  for (const auto& [i, axis] : *axes) {
    const SliceRange range{bound(slice.begin_mask, i, slice.begin[i]), bound(slice.end_mask, i, slice.end[i]),
                           slice.strides[i]};
    entries.push_back({axis, shape[static_cast<std::size_t>(axis)], range});
  }
  return entries;
}

Result<std::vector<Entry>> index_entries(Ints shape, const Index& index) {
  const auto named = count_named_axes(index, static_cast<int>(shape.size()));
  if (!named.ok()) return named.status();
  std::vector<Entry> entries;
  int axis = 0;
  for (const IndexItem& item : index) {
    if (std::holds_alternative<EllipsisItem>(item)) axis += static_cast<int>(shape.size()) - *named;
    if (const auto* range = std::get_if<SliceRange>(&item)) {
      entries.push_back({axis, shape[static_cast<std::size_t>(axis)], *range});
    }
    axis += std::holds_alternative<SliceRange>(item) || std::holds_alternative<std::int64_t>(item);
  }
  return entries;
}

Result<std::vector<Entry>> entries_of(Ints shape, const SliceArguments& arguments) {
  if (const auto* tf = std::get_if<TfSlice>(&arguments)) return tf_entries(shape, *tf);
  if (const auto* onnx = std::get_if<OnnxSlice>(&arguments)) return onnx_entries(shape, *onnx);
  return index_entries(shape, std::get<Index>(arguments));
}

// Returns the indices that these numbers mean. Bounds that are not given mean the far ends.
Result<Selection::Axis> read(Dialect dialect, const Entry& entry) {
  if (dialect != Dialect::Onnx) return axis_of_slice(entry.range, entry.axis, entry.extent);
  const bool forward = entry.step() > 0;
  const std::int64_t start = entry.range.start.value_or(forward ? 0 : Limits::max());
  const std::int64_t stop = entry.range.stop.value_or(forward ? Limits::max() : Limits::min());
  return Selection::from_onnx({entry.extent}, {{start}, {stop}, {}, {{entry.step()}}})
      .transform([](const Selection& selection) { return selection.axis(0); });
}

std::string text_of(const Entry& entry) {
  SliceRange range = entry.range;
  if (entry.step() == 1) range.step.reset();
  return to_string(Index{range});
}

std::string indices_text(const Selection::Axis& axis) {
  const bool is_long = axis.count > 5;
  std::string text;
  for (std::int64_t i = 0; i < (is_long ? 4 : axis.count); ++i) {
    text += join(text.empty() ? "" : ", ", axis.start + i * axis.step);
  }
  return "[" + text + (is_long ? ", ...]" : "]");
}

Dialect dialect_of(const SliceArguments& arguments) { return static_cast<Dialect>(arguments.index()); }

// TensorFlow and NumPy agree about slices.
bool agree(Dialect a, Dialect b) { return (a == Dialect::Onnx) == (b == Dialect::Onnx); }

}  // namespace

Result<std::vector<std::string>> disagreements(Ints shape, const SliceArguments& arguments,
                                               std::span<const Dialect> others) {
  return without_throwing([&]() -> Result<std::vector<std::string>> {
    if (const auto checked = to_selection(shape, arguments); !checked.ok()) return checked.status();
    const auto entries = entries_of(shape, arguments);
    if (!entries.ok()) return entries.status();
    const Dialect own_dialect = dialect_of(arguments);
    std::vector<std::string> found;
    for (const Entry& entry : *entries) {
      if (entry.extent == 0) continue;
      const auto own = read(own_dialect, entry);
      if (!own.ok()) return own.status();
      for (Dialect other : others) {
        if (agree(own_dialect, other)) continue;
        const auto theirs = read(other, entry);
        if (!theirs.ok()) return theirs.status();
        if (*theirs == *own) continue;
        found.push_back(join("axis ", entry.axis, ": ", text_of(entry), " takes ", indices_text(*own), " in ",
                             name(own_dialect), ", but the same numbers would take ", indices_text(*theirs), " in ",
                             name(other)));
      }
    }
    return found;
  });
}

}  // namespace backslice
