#include "kernels/tiles/parts.h"

#include <algorithm>
#include <numeric>

#include "plan/plan.h"

namespace backslice {
namespace {

bool runs_on(const CommonAxes& common, int outer, const TaskRunner& runner) {
  const auto& a = common.axes[outer];
  const auto& b = common.axes[outer + 1];
  if (a.dst_stride != b.extent * b.dst_stride) return false;
  for (std::int64_t s = 0; s < common.slices(); ++s) {
    runner.throw_if_cancelled_at(s);
    const AxisPart& o = common.slice(s)[outer];
    const AxisPart& i = common.slice(s)[outer + 1];
    if (i.count != b.extent || o.step != 1) return false;
    if (o.count > 1 && o.src_stride != i.count * i.src_stride) return false;
  }
  return true;
}

void merge(CommonAxes& common, int outer, const TaskRunner& runner) {
  const int rank = common.rank();
  const std::int64_t inner_extent = common.axes[outer + 1].extent;
  std::vector<AxisPart> parts;
  parts.reserve(common.sources.size() * static_cast<std::size_t>(rank - 1));
  for (std::int64_t s = 0; s < common.slices(); ++s) {
    runner.throw_if_cancelled_at(s);
    const AxisPart* old = common.slice(s);
    for (int k = 0; k < rank; ++k) {
      if (k == outer + 1) continue;
      parts.push_back(old[k]);
      if (k == outer) {
        parts.back() = {old[k].start * inner_extent, 1, old[k].count * inner_extent, old[k + 1].src_stride};
      }
    }
  }
  common.axes[outer].extent *= inner_extent;
  common.axes[outer].dst_stride = common.axes[outer + 1].dst_stride;
  common.axes.erase(common.axes.begin() + outer + 1);
  common.parts = std::move(parts);
}

// The axis on which the slices are thinnest: the fewest pairs can meet on it.
int thinnest_axis(const CommonAxes& common, const TaskRunner& runner) {
  int best = 0;
  double best_share = 2;
  for (int k = 0; k < common.rank(); ++k) {
    double share = 0;
    for (std::int64_t s = 0; s < common.slices(); ++s) {
      runner.throw_if_cancelled_at(s);
      const AxisPart& part = common.slice(s)[k];
      share += static_cast<double>(part.last() - part.start + 1) / static_cast<double>(common.axes[k].extent);
    }
    share /= static_cast<double>(common.slices());
    if (share < best_share) best_share = share, best = k;
  }
  return best;
}

// The slices by where they start on the axis.
std::vector<std::int64_t> sorted_by_start(const CommonAxes& common, int axis, const TaskRunner& runner) {
  std::vector<std::int64_t> order(static_cast<std::size_t>(common.slices()));
  std::iota(order.begin(), order.end(), 0);
  std::int64_t step = 0;
  std::sort(order.begin(), order.end(), [&](std::int64_t a, std::int64_t b) {
    runner.throw_if_cancelled_at(++step);
    return common.slice(a)[axis].start < common.slice(b)[axis].start;
  });
  return order;
}

}  // namespace

bool intersect(const AxisPart* a, const AxisPart* b, int rank) {
  for (int k = 0; k < rank; ++k) {
    if (!intersect(a[k].positions(), b[k].positions())) return false;
  }
  return true;
}

CommonAxes common_axes(std::span<const SliceGradient> slices, const Layout& dst, const TaskRunner& runner) {
  CommonAxes common;
  if (dst.shape.elements() == 0) return common;
  const int rank = dst.shape.rank();
  std::vector<int> order(static_cast<std::size_t>(rank));
  std::iota(order.begin(), order.end(), 0);
  std::stable_sort(order.begin(), order.end(),
                   [&](int a, int b) { return std::abs(dst.strides[a]) > std::abs(dst.strides[b]); });
  for (int axis : order) {
    common.axes.push_back({dst.shape[axis], std::abs(dst.strides[axis])});
    if (dst.strides[axis] < 0) common.dst_offset += (dst.shape[axis] - 1) * dst.strides[axis];
  }
  std::int64_t step = 0;
  for (const SliceGradient& slice : slices) {
    runner.throw_if_cancelled_at(step++);
    if (slice.selection.result_shape().elements() == 0) continue;
    std::array<std::int64_t, kMaxRank> src_strides{};
    for (int i = 0; i < slice.dy.shape().rank(); ++i) {
      const std::int64_t axis = slice.selection.result_axes()[i];
      if (axis != Selection::kNewAxis) src_strides[axis] = slice.dy.layout.strides[i];
    }
    const std::byte* source = slice.dy.data;
    for (int axis : order) {
      Selection::Axis taken = slice.selection.axis(axis);
      std::int64_t stride = src_strides[axis];
      if (dst.strides[axis] < 0) taken = {dst.shape[axis] - 1 - taken.start, -taken.step, taken.count};
      if (taken.step < 0) {
        taken.start += (taken.count - 1) * taken.step;
        taken.step = -taken.step;
        source += (taken.count - 1) * stride;
        stride = -stride;
      }
      common.parts.push_back({taken.start, taken.count == 1 ? 1 : taken.step, taken.count, stride});
    }
    common.sources.push_back(source);
  }
  for (int k = common.rank() - 2; k >= 0; --k) {
    if (runs_on(common, k, runner)) merge(common, k, runner);
  }
  return common;
}

bool are_disjoint(const CommonAxes& common, const TaskRunner& runner) {
  if (common.slices() < 2) return true;
  if (common.rank() == 0) return false;
  const int axis = thinnest_axis(common, runner);
  // Slices whose range on the axis has not ended yet; only they can meet the next one.
  std::vector<std::int64_t> open;
  std::int64_t step = 0;
  for (std::int64_t next : sorted_by_start(common, axis, runner)) {
    const AxisPart* part = common.slice(next);
    std::erase_if(open, [&](std::int64_t s) { return common.slice(s)[axis].last() < part[axis].start; });
    runner.throw_if_cancelled_at(step++);
    for (std::int64_t s : open) {
      runner.throw_if_cancelled_at(step++);
      if (intersect(common.slice(s), part, common.rank())) return false;
    }
    open.push_back(next);
  }
  return true;
}

}  // namespace backslice
