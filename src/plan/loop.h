// Loop: one axis of the output, walked forward.
//
// A plan (one source) and tiles (many sources) are both made of loops. This file has the operations on a loop: it is
// turned forward, restricted to some of its positions, and merged with the loop inside it.
//
//     axis of 10, reversed in memory, of which x[2:8:3] takes 2 and 5:   extent 10, start 4, step 3, count 2
#pragma once

#include <cstdint>
#include <cstdlib>

#include "backslice/selection.h"
#include "core/per_axis.h"
#include "select/axis_math.h"

namespace backslice {

struct Loop {
  std::int64_t extent = 1;                      // positions in the destination
  std::int64_t start = 0, step = 1, count = 1;  // positions that come from the source; step is positive
  std::int64_t dst_stride = 0;                  // bytes from one position to the next; positive
  std::int64_t src_stride = 0;                  // bytes from one taken position to the next; any sign

  bool takes_all() const { return count == extent; }
  friend bool operator==(const Loop&, const Loop&) = default;
};

// A loop, and the distance in bytes of its first positions from the first positions before the change.
struct PlacedLoop {
  Loop loop;
  std::int64_t dst_offset = 0, src_offset = 0;
};

// Makes the loop over an axis with strides of any sign. `taken` says which positions the source fills.
inline PlacedLoop forward_loop(std::int64_t extent, Selection::Axis taken, std::int64_t dst_stride,
                               std::int64_t src_stride) {
  PlacedLoop placed;
  if (dst_stride < 0) {
    placed.dst_offset = (extent - 1) * dst_stride;
    if (taken.count > 0) taken.start = extent - 1 - taken.start;
    taken.step = -taken.step;
  }
  if (taken.step < 0 && taken.count > 0) {
    taken.start += (taken.count - 1) * taken.step;
    placed.src_offset = (taken.count - 1) * src_stride;
    src_stride = -src_stride;
  }
  const bool steps = taken.count > 1;
  placed.loop = {extent,      taken.start,          steps ? std::abs(taken.step) : 1,
                 taken.count, std::abs(dst_stride), steps ? src_stride : 0};
  return placed;
}

// Restricts a loop to some of its positions.
inline PlacedLoop restricted(const Loop& loop, Range positions) {
  const Range taken = taken_inside({loop.start, loop.step, loop.count}, positions);
  const std::int64_t count = taken.hi - taken.lo;
  const Loop part{positions.hi - positions.lo,
                  count == 0 ? 0 : loop.start + taken.lo * loop.step - positions.lo,
                  count <= 1 ? 1 : loop.step,
                  count,
                  loop.dst_stride,
                  count == 0 ? 0 : loop.src_stride};
  return {part, positions.lo * loop.dst_stride, taken.lo * loop.src_stride};
}

// Whether a step of `outer` continues after the end of `inner` in the destination.
inline bool are_adjacent(const Loop& outer, const Loop& inner) {
  return outer.dst_stride == inner.extent * inner.dst_stride;
}

// -- Adjacent loops:

// Whether the selected positions of both are one run, evenly spaced in the source.
inline bool take_one_run(const Loop& outer, const Loop& inner) {
  return inner.takes_all() && outer.step == 1 &&
         (outer.count == 1 || outer.src_stride == inner.count * inner.src_stride);
}

// Whether the inner loop's steps continue evenly from one position of the outer loop to the next.
inline bool step_evenly(const Loop& outer, const Loop& inner) {
  if (!outer.takes_all()) return false;
  if (inner.count == 1) return true;
  return inner.start < inner.step && inner.count * inner.step == inner.extent &&
         outer.src_stride == inner.count * inner.src_stride;
}

inline bool can_merge(const Loop& outer, const Loop& inner) {
  if (outer.count == 0) return true;  // zeros beside any loop, which is never reached
  return step_evenly(outer, inner) || take_one_run(outer, inner);
}

// Merges two loops. Precondition: can_merge(outer, inner).
inline Loop merged(const Loop& outer, const Loop& inner) {
  const std::int64_t extent = outer.extent * inner.extent;
  if (outer.count == 0) return {extent, 0, 1, 0, inner.dst_stride, 0};
  if (step_evenly(outer, inner)) {
    const bool single = inner.count == 1;
    return {extent,
            inner.start,
            single ? inner.extent : inner.step,
            outer.count * inner.count,
            inner.dst_stride,
            single ? outer.src_stride : inner.src_stride};
  }
  return {extent, outer.start * inner.extent, 1, outer.count * inner.extent, inner.dst_stride, inner.src_stride};
}

// The strides of a slice by axis of its input; 0 for dropped axes.
class StridesByInputAxis {
 public:
  StridesByInputAxis(const Selection& selection, const Layout& slice)
      : axes_(selection.result_axes()), strides_(slice.strides) {}

  // Returns the stride of an axis. Call it for axis 0, 1, ..., in this order.
  std::int64_t of(int axis) {
    while (next_ < axes_.size() && axes_[next_] == Selection::kNewAxis) ++next_;
    if (next_ == axes_.size() || axes_[next_] != axis) return 0;
    return strides_[static_cast<int>(next_++)];
  }

 private:
  Ints axes_;
  const Dims& strides_;
  std::size_t next_ = 0;  // the next axis of the slice
};

// Returns all strides, for random access.
inline PerAxis<std::int64_t> strides_by_input_axis(const Selection& selection, const Layout& slice) {
  PerAxis<std::int64_t> strides;
  StridesByInputAxis by_axis(selection, slice);
  for (int axis = 0; axis < selection.shape().rank(); ++axis) strides[axis] = by_axis.of(axis);
  return strides;
}

}  // namespace backslice
