// Many slices of one destination, brought to common axes.
//
// Each slice becomes one AxisPart per axis: the positions of the destination that it selects, and their distance in its
// source. Axes are turned forward and ordered by the destination's strides, as in a Plan; the parts are the members of
// its loops that differ from slice to slice. Axes that continue each other for every slice are merged.
#pragma once

#include <utility>
#include <vector>

#include "backslice/slice_gradient.h"
#include "execute/task_runner.h"
#include "kernels/nest/units.h"

namespace backslice {

// The value of an element that two slices select.
enum class Overlap { None, Added, LastWins };

// There may be millions of slices: functions that visit all of them check for cancellation.

// For a destination without elements: no axes, no slices.
CommonAxes common_axes(std::span<const SliceGradient> slices, const Layout& dst, const TaskRunner& runner);

// Returns whether no two slices select the same position. Exact.
bool are_disjoint(const CommonAxes& common, const TaskRunner& runner);

// Returns whether two slices share a position. Exact.
bool intersect(const AxisPart* a, const AxisPart* b, int rank);

// -- The division of a tensor into tiles, and the slices that meet a tile

// The grid of tiles: inner axes whole, one axis cut into ranges, outer axes one position at a time.
struct Grid {
  int cut = 0;             // the axis that is cut; -1 when there are no axes
  std::int64_t run = 1;    // its positions in a tile
  std::int64_t runs = 1;   // tiles along it
  std::int64_t inner = 1;  // elements of one position of it
  std::int64_t tiles = 1;
};

Grid make_grid(const CommonAxes& common, std::int64_t item_size, std::int64_t tile_bytes);

// The slices that meet each position (or range, on the cut axis) of one axis: the axis that separates them best.
class Buckets {
 public:
  Buckets(const CommonAxes& common, const Grid& grid, const TaskRunner& runner);

  // Returns candidates, in list order, for a tile at these positions of the outer axes and this range.
  const std::vector<std::int64_t>& candidates(const std::int64_t* outer, std::int64_t run) const {
    if (grid_.cut < 0) return lists_[0];
    return lists_[static_cast<std::size_t>(axis_ == grid_.cut ? run : outer[axis_])];
  }

 private:
  std::int64_t cells(const CommonAxes& common, int k) const;
  std::pair<std::int64_t, std::int64_t> cell_range(const CommonAxes& common, int k, std::int64_t s) const;
  std::int64_t count_entries(const CommonAxes& common, int k, const TaskRunner& runner) const;

  const Grid& grid_;
  int axis_ = 0;
  std::vector<std::vector<std::int64_t>> lists_;
};

}  // namespace backslice
