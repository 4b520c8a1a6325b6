#include "plan/plan.h"

#include <algorithm>
#include <cassert>

#include "core/errors.h"
#include "select/axis_math.h"

namespace backslice {

// Builds a Plan in the order of the steps: one loop per axis, turned forward, ordered, merged, widened.
class Planner {
 public:
  // Of tensors whose first elements lie that far from where a kernel will be told they are.
  explicit Planner(std::int64_t item_size, std::int64_t dst_offset = 0, std::int64_t src_offset = 0) {
    plan_.item_size_ = item_size;
    plan_.dst_offset_ = dst_offset;
    plan_.src_offset_ = src_offset;
  }

  // Another plan, with its outermost loop cut.
  Planner(const Plan& plan, Range positions) : plan_(plan) {
    Loop& loop = plan_.loops_[0];
    const Range taken = taken_inside({loop.start, loop.step, loop.count}, positions);
    plan_.dst_offset_ += positions.lo * loop.dst_stride;
    plan_.src_offset_ += taken.lo * loop.src_stride;
    loop.start += taken.lo * loop.step - positions.lo;
    loop.extent = positions.hi - positions.lo;
    loop.count = taken.hi - taken.lo;
    if (loop.count == 0) loop.start = loop.src_stride = 0;
    if (loop.count <= 1) loop.step = 1;
  }

  Plan cut() {
    const Loop& cut = plan_.loops_[0];
    if (cut.count == 0) take_nothing();
    if (cut.extent == 1 && (cut.count == 1 || plan_.loops_.size() > 1)) plan_.loops_.erase_first();
    merge();
    return plan_;
  }

  // A loop of the destination; `axis` says which positions the source fills.
  void add(std::int64_t extent, Selection::Axis axis, std::int64_t dst_stride, std::int64_t src_stride) {
    if (extent == 1 && axis.count == 1) return;
    if (dst_stride < 0) {
      plan_.dst_offset_ += (extent - 1) * dst_stride;
      dst_stride = -dst_stride;
      if (axis.count > 0) axis.start = extent - 1 - axis.start;
      axis.step = -axis.step;
    }
    if (axis.step < 0 && axis.count > 0) {
      axis.start += (axis.count - 1) * axis.step;
      plan_.src_offset_ += (axis.count - 1) * src_stride;
      src_stride = -src_stride;
    }
    if (axis.count <= 1) src_stride = 0;
    const std::int64_t step = axis.count <= 1 ? 1 : std::abs(axis.step);
    plan_.loops_.push_back({extent, axis.start, step, axis.count, dst_stride, src_stride});
  }

  Plan finish(Widen widen) {
    order();
    merge();
    plan_.moves_bytes_ = widen == Widen::Yes;
    if (plan_.moves_bytes_) widen_item();
    return plan_;
  }

 private:
  void take_nothing() {
    for (Loop& loop : plan_.loops_) loop = {loop.extent, 0, 1, 0, loop.dst_stride, 0};
  }

  void order() {
    const auto outer_first = [](const Loop& a, const Loop& b) { return a.dst_stride > b.dst_stride; };
    if (std::is_sorted(plan_.loops_.begin(), plan_.loops_.end(), outer_first)) return;
    std::stable_sort(plan_.loops_.begin(), plan_.loops_.end(), outer_first);
  }

  void merge() {
    int kept = 0;
    for (int i = 0; i < plan_.loops_.size(); ++i) {
      const Loop inner = plan_.loops_[i];
      if (kept > 0 && runs_on(plan_.loops_[kept - 1], inner)) {
        plan_.loops_[kept - 1] = merged(plan_.loops_[kept - 1], inner);
      } else {
        plan_.loops_[kept++] = inner;
      }
    }
    plan_.loops_.resize_down(kept);
  }

  // Whether stepping the outer loop once is the same as stepping past the end of the inner one.
  static bool runs_on(const Loop& outer, const Loop& inner) {
    if (outer.dst_stride != inner.extent * inner.dst_stride) return false;
    if (outer.count == 0) return true;  // zeros next to whatever is never reached
    if (continues(outer, inner)) return true;
    return inner.takes_all() && outer.step == 1 &&
           (outer.count == 1 || outer.src_stride == inner.count * inner.src_stride);
  }

  // Whether the inner loop's steps go on evenly from one position of the outer to the next.
  static bool continues(const Loop& outer, const Loop& inner) {
    if (!outer.takes_all()) return false;
    if (inner.count == 1) return true;
    return inner.start < inner.step && inner.count * inner.step == inner.extent &&
           outer.src_stride == inner.count * inner.src_stride;
  }

  static Loop merged(const Loop& outer, const Loop& inner) {
    if (outer.count > 0 && continues(outer, inner)) {
      const bool single = inner.count == 1;
      return {outer.extent * inner.extent, inner.start,      single ? inner.extent : inner.step,
              outer.count * inner.count,   inner.dst_stride, single ? outer.src_stride : inner.src_stride};
    }
    const bool nothing = outer.count == 0;
    return {outer.extent * inner.extent,
            nothing ? 0 : outer.start * inner.extent,
            1,
            nothing ? 0 : outer.count * inner.extent,
            inner.dst_stride,
            nothing ? 0 : inner.src_stride};
  }

  void widen_item() {
    if (plan_.loops_.empty()) return;
    const Loop& last = plan_.loops_[plan_.loops_.size() - 1];
    if (last.takes_all() && last.dst_stride == plan_.item_size_ && last.src_stride == plan_.item_size_) {
      plan_.item_size_ *= last.extent;
      plan_.loops_.resize_down(plan_.loops_.size() - 1);
    }
  }

  Plan plan_;
};

std::int64_t Plan::dst_bytes() const {
  std::int64_t bytes = item_size_;
  for (const Loop& loop : loops()) bytes *= loop.extent;
  return bytes;
}

Plan Plan::restrict(std::int64_t lo, std::int64_t hi) const {
  assert(!loops_.empty() && 0 <= lo && lo < hi && hi <= loops_[0].extent);
  return Planner(*this, {lo, hi}).cut();
}

namespace {

// Nothing to write: such a plan has no loops, whose extents could be as large as those of an empty shape may be.
bool has_no_bytes(const Layout& layout) { return layout.shape.elements() == 0 || layout.item_size == 0; }

}  // namespace

Plan Plan::byte_by_byte() const {
  assert(loops_.empty() && moves_bytes_);
  Plan plan = *this;
  plan.item_size_ = 1;
  plan.loops_.push_back({item_size_, 0, 1, item_size_, 1, 1});
  return plan;
}

Plan plan_scatter(const Selection& selection, const Layout& dst, const Layout& src, Widen widen) {
  assert(dst.shape == selection.shape() && src.shape == selection.result_shape());
  assert(dst.item_size == src.item_size);
  if (has_no_bytes(dst)) return Plan();
  const int rank = dst.shape.rank();
  const Ints result_axes = selection.result_axes();
  std::size_t next = 0;  // the first result axis not yet met: they come in the order of the input's
  const auto src_stride = [&](int axis) -> std::int64_t {
    while (next < result_axes.size() && result_axes[next] == Selection::kNewAxis) ++next;
    if (next == result_axes.size() || result_axes[next] != axis) return 0;  // dropped
    return src.strides[static_cast<int>(next++)];
  };
  // A selection that takes nothing from one axis takes nothing at all.
  const bool takes_nothing = src.shape.elements() == 0;
  Planner planner(dst.item_size);
  for (int i = 0; i < rank; ++i) {
    planner.add(dst.shape[i], takes_nothing ? Selection::Axis{} : selection.axis(i), dst.strides[i], src_stride(i));
  }
  return planner.finish(widen);
}

namespace {

Plan plan_copy(const SelectedLayout& dst, const SelectedLayout& src, Widen widen) {
  assert(dst.layout.shape == src.layout.shape && dst.layout.item_size == src.layout.item_size);
  if (has_no_bytes(dst.layout)) return Plan();
  Planner planner(dst.layout.item_size, dst.offset, src.offset);
  for (int i = 0; i < dst.layout.shape.rank(); ++i) {
    const std::int64_t extent = dst.layout.shape[i];
    planner.add(extent, {0, 1, extent}, dst.layout.strides[i], src.layout.strides[i]);
  }
  return planner.finish(widen);
}

}  // namespace

Plan plan_copy(const Layout& dst, const Layout& src, Widen widen) {
  return plan_copy(SelectedLayout{0, dst}, SelectedLayout{0, src}, widen);
}

Plan plan_scatter_taken(const Selection& selection, const Layout& dst, const Layout& src, Widen widen) {
  return plan_copy(select(selection, dst), SelectedLayout{0, src}, widen);
}

Plan plan_gather(const Selection& selection, const Layout& dst, const Layout& src, Widen widen) {
  return plan_copy(SelectedLayout{0, dst}, select(selection, src), widen);
}

Plan plan_zero(const Layout& dst, Widen widen) {
  if (has_no_bytes(dst)) return Plan();
  Planner planner(dst.item_size);
  for (int i = 0; i < dst.shape.rank(); ++i) {
    if (dst.shape[i] > 1) planner.add(dst.shape[i], {0, 1, 0}, dst.strides[i], 0);
  }
  planner.add(1, {0, 1, 0}, dst.item_size, 0);  // takes nothing, also where there are no axes
  return planner.finish(widen);
}

std::string to_string(const Plan& plan) {
  std::string text =
      join("items of ", plan.item_size(), " bytes, first at ", plan.dst_offset(), " from ", plan.src_offset(), "\n");
  for (const Loop& loop : plan.loops()) {
    text += join("  for ", loop.extent, " positions ", loop.dst_stride, " bytes apart: take ", loop.count,
                 " from position ", loop.start, " by ", loop.step, ", ", loop.src_stride, " bytes apart\n");
  }
  return text;
}

}  // namespace backslice
