// Cuts axes into as many blocks as a picture has room for.
#include <algorithm>
#include <bit>

#include "backslice/picture.h"
#include "select/axis_math.h"

namespace backslice {
namespace {

// Returns the least power of two of which at most `most` cover the extent. It is up to 2^63, which int64_t does not
// hold.
std::uint64_t block_size(std::int64_t extent, std::int64_t most) {
  const std::int64_t needed = extent == 0 ? 1 : (extent - 1) / std::max<std::int64_t>(most, 1) + 1;
  return std::bit_ceil(static_cast<std::uint64_t>(needed));
}

// Returns the most blocks of each axis: the last two axes are a grid, the axes before them share the panels.
std::vector<std::int64_t> most_blocks(const Shape& shape, const PictureLimits& limits) {
  const int rank = shape.rank();
  std::vector<std::int64_t> most(static_cast<std::size_t>(rank));
  std::int64_t left = limits.panels;
  for (int axis = rank - 1; axis >= 0; --axis) {
    std::int64_t& own = most[static_cast<std::size_t>(axis)];
    if (axis == rank - 1) {
      own = limits.columns;
    } else if (axis == rank - 2) {
      own = rank <= 2 ? limits.rows : limits.rows / 2;
    } else {
      own = std::max<std::int64_t>(1, std::min(shape[axis], left));
      left /= own;
    }
    own = std::max<std::int64_t>(1, own);
  }
  return most;
}

}  // namespace

std::vector<AxisBlock> cut_axis(std::int64_t extent, const Selection::Axis& axis, std::int64_t most) {
  const std::uint64_t size = block_size(extent, most);
  std::vector<AxisBlock> blocks;
  for (std::int64_t lo = 0, hi = 0; lo < extent; lo = hi) {
    hi = size >= static_cast<std::uint64_t>(extent - lo) ? extent : lo + static_cast<std::int64_t>(size);
    const Range taken = taken_inside(axis, {lo, hi});
    blocks.push_back({lo, hi, taken.hi - taken.lo, taken.lo});
  }
  return blocks;
}

std::vector<std::vector<AxisBlock>> picture_blocks(const Selection& selection, const PictureLimits& limits) {
  const std::vector<std::int64_t> most = most_blocks(selection.shape(), limits);
  std::vector<std::vector<AxisBlock>> axes;
  for (int axis = 0; axis < selection.shape().rank(); ++axis) {
    axes.push_back(cut_axis(selection.shape()[axis], selection.axis(axis), most[static_cast<std::size_t>(axis)]));
  }
  return axes;
}

}  // namespace backslice
