// Plan: how a selection becomes loops.
//
// A plan says how to fill a destination from a source: nested loops over the destination, outermost first. Each loop
// takes `count` of its `extent` positions from the source (start, start + step, ...) and leaves the others without a
// value; items that no loop leaves out are copied, all others are zeroed. A plain copy is a plan that leaves
// nothing out.
//
// Planning reads no tensor memory. It turns both layouts forward, drops loops of one item, orders the loops by the
// destination's strides and merges those that run on into each other; moves by bytes also widen the item to the
// longest run that is contiguous on both sides.
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

  // Whether there is nothing to write. Such a plan has no loops; all others have none without positions, and the bytes
  // they write fit int64_t.
  bool is_empty() const { return item_size_ == 0; }

  // The size of the destination, gaps between its elements not counted.
  std::int64_t dst_bytes() const;

  // How many of them come from the source.
  std::int64_t taken_bytes() const;

  // The positions [lo, hi) of a loop, and what the source gives them. Precondition: 0 <= lo < hi <= its extent.
  Plan restrict(int loop, std::int64_t lo, std::int64_t hi) const;

  // Whether its items are bytes, of which a run may be cut anywhere; else they are elements.
  bool moves_bytes() const { return moves_bytes_; }

  // Whether there is one item to write, from the source or as zeros.
  bool is_one_item() const { return loops_.empty() || (loops_.size() == 1 && loops_[0].extent == 1); }

  // The same with one loop over the bytes of its item. Precondition: it is one item, and moves bytes.
  Plan byte_by_byte() const;

  // Where the first position of the loops lies in each tensor, in bytes from its first element.
  std::int64_t dst_offset() const { return dst_offset_; }
  std::int64_t src_offset() const { return src_offset_; }

 private:
  friend class Planner;

  InlineVector<Loop> loops_;
  std::int64_t item_size_ = 0, dst_offset_ = 0, src_offset_ = 0;
  bool moves_bytes_ = false;
};

// Whether an item may become a run of several elements: yes for moves of bytes, no where elements are typed.
enum class Widen { Yes, No };

// For moves of elements of that dtype: objects are moved one by one, so that a run of them is not a longer item.
Widen widen_for(DType dtype);

// The gradient: fills `dst` (of selection.shape()) from `src` (of selection.result_shape()), zero where nothing is
// taken.
Plan plan_scatter(const Selection& selection, const Layout& dst, const Layout& src, Widen widen);

// The part of that which is not zero: what is not selected is left alone.
Plan plan_scatter_taken(const Selection& selection, const Layout& dst, const Layout& src, Widen widen);

// The slice: fills `dst` (of selection.result_shape()) from `src` (of selection.shape()).
Plan plan_gather(const Selection& selection, const Layout& dst, const Layout& src, Widen widen);

// Fills `dst` from `src` of the same shape.
Plan plan_copy(const Layout& dst, const Layout& src, Widen widen);

// Fills `dst` with zeros.
Plan plan_zero(const Layout& dst, Widen widen);

// One line per loop, for people.
std::string to_string(const Plan& plan);

}  // namespace backslice
