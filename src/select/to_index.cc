// Selection -> NumPy basic indexing.
#include "backslice/selection.h"
#include "select/axis_math.h"

namespace backslice {
namespace {

SliceRange to_range(const Selection::Axis& axis) {
  const std::int64_t stop = stop_of(axis);
  SliceRange range{axis.start, stop, std::nullopt};
  if (axis.step != 1) range.step = axis.step;
  if (stop < 0) range.stop = std::nullopt;  // a negative stop would count from the end
  return range;
}

}  // namespace

Index Selection::to_index() const {
  Index index;
  int next = 0;
  const auto take_dropped = [&](std::int64_t until) {
    for (; next < until; ++next) index.push_back(axes_[next].start);
  };
  for (std::int64_t source : result_axes_) {
    if (source == kNewAxis) {
      index.push_back(NewAxis{});
      continue;
    }
    take_dropped(source);
    index.push_back(is_whole(next) ? SliceRange{} : to_range(axes_[next]));
    ++next;
  }
  take_dropped(shape_.rank());
  return index;
}

}  // namespace backslice
