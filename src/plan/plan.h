// Plan: how a selection becomes loops.
//
// A plan says how to fill a destination from a source: nested loops over the destination, outermost first. Each loop
// takes `count` of its `extent` positions from the source (start, start + step, ...). Items that every loop takes are
// copied; all others are zeroed. A plan in which every loop takes all its positions is a plain copy.
//
// Planning reads no tensor memory. It turns both layouts forward, drops loops of one item, orders the loops by the
// destination's strides, and merges loops that continue each other. If items are moved as bytes, a run that is
// contiguous on both sides becomes one longer item.
//
//     the gradient of x[1:3] of shape [4, 5] float32:   one loop, extent 20, start 5, step 1, count 10
#pragma once

#include <cstdint>
#include <span>
#include <string>

#include "backslice/selection.h"
#include "backslice/view.h"
#include "plan/loop.h"

namespace backslice {

class Plan {
 public:
  std::span<const Loop> loops() const { return loops_; }
  std::int64_t item_size() const { return item_size_; }

  // Whether there is nothing to write. Such a plan has no loops. In all others every loop has positions, and the bytes
  // that they write fit int64_t.
  bool is_empty() const { return item_size_ == 0; }

  // The size of the destination, without the gaps between its elements.
  std::int64_t dst_bytes() const;

  // The number of these bytes that come from the source.
  std::int64_t taken_bytes() const;

  // Returns the plan for the positions [lo, hi) of a loop. Precondition: 0 <= lo < hi <= its extent.
  Plan restrict(int loop, std::int64_t lo, std::int64_t hi) const;

  // Whether its items are bytes, so that a run may be cut anywhere; otherwise they are elements.
  bool moves_bytes() const { return moves_bytes_; }

  // Whether there is one item to write, from the source or as zeros.
  bool is_one_item() const { return loops_.empty() || (loops_.size() == 1 && loops_[0].extent == 1); }

  // Returns the same plan with one loop over the bytes of its item. Precondition: it is one item, and moves bytes.
  Plan byte_by_byte() const;

  // The offset of the loops' first position in each tensor, in bytes from its first element.
  std::int64_t dst_offset() const { return dst_offset_; }
  std::int64_t src_offset() const { return src_offset_; }

 private:
  friend class Planner;

  InlineVector<Loop> loops_;
  std::int64_t item_size_ = 0, dst_offset_ = 0, src_offset_ = 0;
  bool moves_bytes_ = false;
};

// Whether an item may become a run of several elements: yes if bytes are moved, no if elements are typed.
enum class Widen { Yes, No };

// Returns whether elements of that dtype can be widened. Objects cannot: they are moved one by one.
Widen widen_for(DType dtype);

// Plans the gradient: fills `dst` (of selection.shape()) from `src` (of selection.result_shape()), with zeros in the
// gaps.
Plan plan_scatter(const Selection& selection, const Layout& dst, const Layout& src, Widen widen);

// Plans the selected part of the gradient; the gaps are not touched.
Plan plan_scatter_taken(const Selection& selection, const Layout& dst, const Layout& src, Widen widen);

// Plans the slice: fills `dst` (of selection.result_shape()) from `src` (of selection.shape()).
Plan plan_gather(const Selection& selection, const Layout& dst, const Layout& src, Widen widen);

// Plans a copy of `src` to `dst`, of the same shape.
Plan plan_copy(const Layout& dst, const Layout& src, Widen widen);

// Plans zeros for all of `dst`.
Plan plan_zero(const Layout& dst, Widen widen);

// Describes the plan, one line per loop.
std::string to_string(const Plan& plan);

}  // namespace backslice
