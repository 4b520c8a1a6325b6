#include "kernels/tiles/parts.h"

#include <algorithm>

namespace backslice {
namespace {

AxisPart part_of(const Loop& loop) { return {loop.start, loop.step, loop.count, loop.src_stride}; }

// The axes along which there is a step, by the destination's strides, outermost first.
std::vector<int> order_of(const Layout& dst) {
  std::vector<int> order;
  for (int axis = 0; axis < dst.shape.rank(); ++axis) {
    if (dst.shape[axis] > 1) order.push_back(axis);
  }
  std::stable_sort(order.begin(), order.end(),
                   [&](int a, int b) { return std::abs(dst.strides[a]) > std::abs(dst.strides[b]); });
  return order;
}

void add_axis(CommonAxes& common, std::int64_t extent, std::int64_t dst_stride) {
  const PlacedLoop zeros = forward_loop(extent, {0, 1, 0}, dst_stride, 0);
  common.axes.push_back({extent, zeros.loop.dst_stride});
  common.dst_offset += zeros.dst_offset;
}

void add_slice(CommonAxes& common, const SliceGradient& slice, const Layout& dst, const std::vector<int>& order) {
  const auto src_strides = strides_by_input_axis(slice.selection, slice.dy.layout);
  const std::byte* source = slice.dy.data;
  for (int axis : order) {
    const PlacedLoop placed =
        forward_loop(dst.shape[axis], slice.selection.axis(axis), dst.strides[axis], src_strides[axis]);
    common.parts.push_back(part_of(placed.loop));
    source += placed.src_offset;
  }
  common.sources.push_back(source);
}

// Only what remains one run is merged: were steps merged too, the axis that tells slices apart could be lost.
bool can_merge(const CommonAxes& common, int outer, const TaskRunner& runner) {
  const auto& [extent, dst_stride] = common.axis(outer + 1);
  if (common.axis(outer).dst_stride != extent * dst_stride) return false;
  for (std::int64_t s = 0; s < common.slices(); ++s) {
    runner.throw_if_cancelled_at(s);
    if (!take_one_run(common.loop(s, outer), common.loop(s, outer + 1))) return false;
  }
  return true;
}

void merge(CommonAxes& common, int outer, const TaskRunner& runner) {
  const int rank = common.rank();
  std::vector<AxisPart> parts;
  parts.reserve(common.sources.size() * static_cast<std::size_t>(rank - 1));
  for (std::int64_t s = 0; s < common.slices(); ++s) {
    runner.throw_if_cancelled_at(s);
    for (int k = 0; k < rank; ++k) {
      if (k == outer + 1) continue;
      parts.push_back(k == outer ? part_of(merged(common.loop(s, k), common.loop(s, k + 1))) : common.slice(s)[k]);
    }
  }
  common.axis(outer).extent *= common.axis(outer + 1).extent;
  common.axis(outer).dst_stride = common.axis(outer + 1).dst_stride;
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
      share += static_cast<double>(part.last() - part.start + 1) / static_cast<double>(common.axis(k).extent);
    }
    share /= static_cast<double>(common.slices());
    if (share < best_share) best_share = share, best = k;
  }
  return best;
}

// The range of a slice on one axis.
struct AxisRange {
  std::int64_t start, last;
  const AxisPart* parts;
};

// Returns the ranges of the slices on the axis, by their start.
std::vector<AxisRange> sorted_by_start(const CommonAxes& common, int axis, const TaskRunner& runner) {
  std::vector<AxisRange> ranges;
  ranges.reserve(common.sources.size());
  for (std::int64_t s = 0; s < common.slices(); ++s) {
    const AxisPart* parts = common.slice(s);
    ranges.push_back({parts[axis].start, parts[axis].last(), parts});
  }
  std::int64_t step = 0;
  std::sort(ranges.begin(), ranges.end(), [&](const AxisRange& a, const AxisRange& b) {
    runner.throw_if_cancelled_at(++step);
    return a.start < b.start;
  });
  return ranges;
}

}  // namespace

bool intersect(const AxisPart* a, const AxisPart* b, int rank) {
  for (int k = 0; k < rank; ++k) {  // which tells most slices apart
    if (a[k].last() < b[k].start || b[k].last() < a[k].start) return false;
  }
  for (int k = 0; k < rank; ++k) {
    if (!intersect(a[k].positions(), b[k].positions())) return false;
  }
  return true;
}

CommonAxes common_axes(std::span<const SliceGradient> slices, const Layout& dst, const TaskRunner& runner) {
  CommonAxes common;
  if (dst.shape.elements() == 0) return common;
  const std::vector<int> order = order_of(dst);
  for (int axis : order) add_axis(common, dst.shape[axis], dst.strides[axis]);
  std::int64_t step = 0;
  for (const SliceGradient& slice : slices) {
    runner.throw_if_cancelled_at(step++);
    if (slice.selection.result_shape().elements() > 0) add_slice(common, slice, dst, order);
  }
  for (int k = common.rank() - 2; k >= 0; --k) {
    if (can_merge(common, k, runner)) merge(common, k, runner);
  }
  return common;
}

bool are_disjoint(const CommonAxes& common, const TaskRunner& runner) {
  if (common.slices() < 2) return true;
  if (common.rank() == 0) return false;
  const int axis = thinnest_axis(common, runner);
  // The slices whose range on the axis has not ended yet; only they can meet the next one.
  std::vector<AxisRange> open;
  std::int64_t step = 0;
  for (const AxisRange& next : sorted_by_start(common, axis, runner)) {
    std::erase_if(open, [&](const AxisRange& range) { return range.last < next.start; });
    runner.throw_if_cancelled_at(step++);
    for (const AxisRange& range : open) {
      runner.throw_if_cancelled_at(step++);
      if (intersect(range.parts, next.parts, common.rank())) return false;
    }
    open.push_back(next);
  }
  return true;
}

Grid make_grid(const CommonAxes& common, std::int64_t item_size, std::int64_t tile_bytes) {
  Grid grid;
  grid.cut = common.rank() - 1;
  const std::int64_t most = std::max<std::int64_t>(1, tile_bytes / std::max<std::int64_t>(item_size, 1));
  while (grid.cut > 0 && grid.inner * common.axis(grid.cut).extent <= most) {
    grid.inner *= common.axis(grid.cut--).extent;
  }
  if (grid.cut < 0) return grid;
  const std::int64_t extent = common.axis(grid.cut).extent;
  grid.run = std::clamp<std::int64_t>(most / grid.inner, 1, extent);
  grid.runs = (extent + grid.run - 1) / grid.run;
  grid.tiles = grid.runs;
  for (int k = 0; k < grid.cut; ++k) grid.tiles *= common.axis(k).extent;
  return grid;
}

Buckets::Buckets(const CommonAxes& common, const Grid& grid, const TaskRunner& runner) : grid_(grid) {
  std::int64_t fewest = INT64_MAX;
  for (int k = 0; k <= grid.cut; ++k) {
    const std::int64_t entries = count_entries(common, k, runner);
    // each cell of the axis is visited by all tiles that share it
    const std::int64_t cost = entries / std::max<std::int64_t>(1, cells(common, k)) + 1;
    if (cost < fewest) fewest = cost, axis_ = k;
  }
  lists_.resize(static_cast<std::size_t>(grid.cut < 0 ? 1 : cells(common, axis_)));
  std::int64_t step = 0;
  for (std::int64_t s = 0; s < common.slices(); ++s) {
    const auto [first, last] = cell_range(common, axis_, s);
    for (std::int64_t c = first; c <= last; ++c) {
      runner.throw_if_cancelled_at(step++);
      lists_[static_cast<std::size_t>(c)].push_back(s);
    }
  }
}

std::int64_t Buckets::cells(const CommonAxes& common, int k) const {
  return k == grid_.cut ? grid_.runs : common.axis(k).extent;
}

std::pair<std::int64_t, std::int64_t> Buckets::cell_range(const CommonAxes& common, int k, std::int64_t s) const {
  if (grid_.cut < 0) return {0, 0};
  const AxisPart& part = common.slice(s)[k];
  const std::int64_t unit = k == grid_.cut ? grid_.run : 1;
  return {part.start / unit, part.last() / unit};
}

std::int64_t Buckets::count_entries(const CommonAxes& common, int k, const TaskRunner& runner) const {
  std::int64_t entries = 0;
  for (std::int64_t s = 0; s < common.slices(); ++s) {
    runner.throw_if_cancelled_at(s);
    const auto [first, last] = cell_range(common, k, s);
    entries += last - first + 1;
  }
  return entries;
}

}  // namespace backslice
