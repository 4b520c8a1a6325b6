// Selection -> TensorFlow's StridedSlice arguments.
#include "backslice/selection.h"
#include "core/errors.h"
#include "select/tf_lists.h"

namespace backslice {
namespace {

bool takes_whole_axis(const IndexItem& item) {
  const auto* range = std::get_if<SliceRange>(&item);
  return range != nullptr && *range == SliceRange{};
}

// Finds the longest run of entries that select whole axes, which an ellipsis can replace.
struct Run {
  std::size_t begin = 0, size = 0;
};

Run longest_run_of_whole_axes(const Index& index) {
  Run best, current;
  for (std::size_t i = 0; i < index.size(); ++i) {
    current = takes_whole_axis(index[i]) ? Run{current.begin, current.size + 1} : Run{i + 1, 0};
    if (current.size > best.size) best = current;
  }
  return best;
}

Index without_whole_axes_at_the_end(Index index) {
  while (!index.empty() && takes_whole_axis(index.back())) index.pop_back();
  return index;
}

Index with_ellipsis(const Index& index) {
  const Run run = longest_run_of_whole_axes(index);
  if (run.size == 0) return index;
  Index shorter(index.begin(), index.begin() + run.begin);
  shorter.push_back(EllipsisItem{});
  for (std::size_t i = run.begin + run.size; i < index.size(); ++i) shorter.push_back(index[i]);
  return shorter;
}

void append(TfSlice& slice, const IndexItem& item) {
  const std::int32_t bit = std::int32_t{1} << slice.begin.size();
  std::int64_t begin = 0, end = 0, stride = 1;
  if (const auto* index = std::get_if<std::int64_t>(&item)) {
    slice.shrink_axis_mask |= bit;
    begin = *index;
    end = *index + 1;
  } else if (const auto* range = std::get_if<SliceRange>(&item)) {
    if (!range->start) slice.begin_mask |= bit;
    if (!range->stop) slice.end_mask |= bit;
    begin = range->start.value_or(0);
    end = range->stop.value_or(0);
    stride = range->step.value_or(1);
  } else if (std::holds_alternative<NewAxis>(item)) {
    slice.new_axis_mask |= bit;
  } else {
    slice.ellipsis_mask |= bit;
  }
  slice.begin.push_back(begin);
  slice.end.push_back(end);
  slice.strides.push_back(stride);
}

}  // namespace

// NumPy's index is converted entry by entry, without whole axes at the end. If that is too long, an ellipsis may
// replace the longest run of whole axes; then whole axes at the end must be written.
Result<TfSlice> Selection::to_tf() const {
  return without_throwing([&]() -> Result<TfSlice> {
    Index index = without_whole_axes_at_the_end(to_index());
    if (index.size() > kMaxTfEntries) index = with_ellipsis(to_index());
    if (index.size() > kMaxTfEntries) {
      return unimplemented("TensorFlow's StridedSlice takes fewer than 32 entries, and this selection needs ",
                           index.size());
    }
    TfSlice slice;
    for (const IndexItem& item : index) append(slice, item);
    return slice;
  });
}

}  // namespace backslice
