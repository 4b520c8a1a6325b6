#include "kernels/tiles/grid.h"

#include <algorithm>

namespace backslice {

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
