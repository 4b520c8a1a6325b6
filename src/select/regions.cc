#include "select/regions.h"

#include <algorithm>

#include "select/progression.h"

namespace backslice {

Selection region_of(const Selection& selection) {
  const Selection all = Selection::all(selection.shape());
  Selection::Axes axes;
  const int rank = selection.shape().rank();
  for (int i = 0; i < rank; ++i) {
    const Progression p = ascending(selection.axis(i));
    axes.push_back({p.start, p.step, p.count});
  }
  return *Selection::make(selection.shape(), axes, all.result_axes());
}

std::optional<Selection> intersection(const Selection& a, const Selection& b) {
  Selection::Axes axes;
  const int rank = a.shape().rank();
  for (int i = 0; i < rank; ++i) {
    const auto both = intersect(ascending(a.axis(i)), ascending(b.axis(i)));
    if (!both) return std::nullopt;
    axes.push_back({both->start, both->step, both->count});
  }
  return *Selection::make(a.shape(), axes, a.result_axes());
}

Selection relative_to(const Selection& inner, const Selection& outer) {
  Selection::Axes axes;
  const int rank = outer.shape().rank();
  for (int i = 0; i < rank; ++i) {
    const Selection::Axis &a = inner.axis(i), &b = outer.axis(i);
    axes.push_back({(a.start - b.start) / b.step, std::max<std::int64_t>(1, a.step / b.step), a.count});
  }
  return *Selection::make(outer.result_shape(), axes, inner.result_axes());
}

std::optional<Selection> joined(const Selection& a, const Selection& b) {
  Selection::Axes axes;
  const int rank = a.shape().rank();
  int differing = 0;
  for (int i = 0; i < rank; ++i) {
    const Selection::Axis &x = a.axis(i), &y = b.axis(i);
    axes.push_back(x);
    if (x == y) continue;
    const bool touch = x.step == 1 && y.step == 1 && x.start <= y.start + y.count && y.start <= x.start + x.count;
    if (++differing > 1 || !touch) return std::nullopt;
    const std::int64_t start = std::min(x.start, y.start);
    axes[i] = {start, 1, std::max(x.start + x.count, y.start + y.count) - start};
  }
  return *Selection::make(a.shape(), axes, a.result_axes());
}

bool contains(const Selection& outer, const Selection& inner) { return intersection(outer, inner) == inner; }

Selection within_region(const Selection& selection, const Selection& region) {
  Selection::Axes axes;
  const int rank = region.shape().rank();
  for (int i = 0; i < rank; ++i) {
    const Selection::Axis &a = selection.axis(i), &r = region.axis(i);
    axes.push_back({(a.start - r.start) / r.step, a.step < 0 ? -1 : 1, a.count});
  }
  return *Selection::make(region.result_shape(), axes, selection.result_axes());
}

}  // namespace backslice
