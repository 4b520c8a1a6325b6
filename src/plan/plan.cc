#include "plan/plan.h"

#include <algorithm>
#include <cassert>

#include "core/errors.h"
#include "core/items.h"

namespace backslice {

// Builds a Plan step by step: one loop per axis, turned forward, ordered, merged, widened.
class Planner {
 public:
  // The offsets are the distances of the tensors' first elements from the addresses that a kernel gets.
  explicit Planner(std::int64_t item_size, std::int64_t dst_offset = 0, std::int64_t src_offset = 0) {
    plan_.item_size_ = item_size;
    plan_.dst_offset_ = dst_offset;
    plan_.src_offset_ = src_offset;
  }

  explicit Planner(const Plan& plan) : plan_(plan) {}

  // Restricts that loop to some of its positions.
  Plan cut(int loop, Range positions) {
    place(plan_.loops_[loop], restricted(plan_.loops_[loop], positions));
    const Loop cut = plan_.loops_[loop];
    if (cut.count == 0) take_nothing();
    if (cut.extent == 1 && (cut.count == 1 || plan_.loops_.size() > 1)) drop(loop);
    merge();
    return plan_;
  }

  // Adds a loop of the destination; `axis` says which positions the source fills.
  void add(std::int64_t extent, Selection::Axis axis, std::int64_t dst_stride, std::int64_t src_stride) {
    if (extent == 1 && axis.count == 1) return;
    plan_.loops_.push_back({});
    place(plan_.loops_[plan_.loops_.size() - 1], forward_loop(extent, axis, dst_stride, src_stride));
  }

  Plan finish(Widen widen) {
    order();
    merge();
    plan_.moves_bytes_ = widen == Widen::Yes;
    if (plan_.moves_bytes_) widen_item();
    return plan_;
  }

 private:
  void place(Loop& loop, const PlacedLoop& placed) {
    loop = placed.loop;
    plan_.dst_offset_ += placed.dst_offset;
    plan_.src_offset_ += placed.src_offset;
  }

  void drop(int loop) {
    std::copy(plan_.loops_.begin() + loop + 1, plan_.loops_.end(), plan_.loops_.begin() + loop);
    plan_.loops_.resize_down(plan_.loops_.size() - 1);
  }

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
      const Loop* outer = kept > 0 ? &plan_.loops_[kept - 1] : nullptr;
      if (outer != nullptr && are_adjacent(*outer, inner) && can_merge(*outer, inner)) {
        plan_.loops_[kept - 1] = merged(*outer, inner);
      } else {
        plan_.loops_[kept++] = inner;
      }
    }
    plan_.loops_.resize_down(kept);
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

std::int64_t Plan::taken_bytes() const {
  std::int64_t bytes = item_size_;
  for (const Loop& loop : loops()) bytes *= loop.count;
  return bytes;
}

Plan Plan::restrict(int loop, std::int64_t lo, std::int64_t hi) const {
  assert(loop < loops_.size() && 0 <= lo && lo < hi && hi <= loops_[loop].extent);
  return Planner(*this).cut(loop, {lo, hi});
}

namespace {

// Whether there is nothing to write. Such a plan has no loops, since the extents of an empty shape may overflow.
bool has_no_bytes(const Layout& layout) { return layout.shape.elements() == 0 || layout.item_size == 0; }

}  // namespace

Plan Plan::byte_by_byte() const {
  assert(is_one_item() && moves_bytes_);
  const bool is_taken = loops_.empty() || loops_[0].count > 0;
  Plan plan = *this;
  plan.item_size_ = 1;
  plan.loops_.resize_down(0);
  plan.loops_.push_back({item_size_, 0, 1, is_taken ? item_size_ : 0, 1, 1});
  return plan;
}

Widen widen_for(DType dtype) { return are_bytes(dtype) ? Widen::Yes : Widen::No; }

Plan plan_scatter(const Selection& selection, const Layout& dst, const Layout& src, Widen widen) {
  assert(dst.shape == selection.shape() && src.shape == selection.result_shape());
  assert(dst.item_size == src.item_size);
  if (has_no_bytes(dst)) return Plan();
  const int rank = dst.shape.rank();
  StridesByInputAxis src_strides(selection, src);
  // A selection that takes nothing from one axis takes nothing at all.
  const bool takes_nothing = src.shape.elements() == 0;
  Planner planner(dst.item_size);
  for (int i = 0; i < rank; ++i) {
    planner.add(dst.shape[i], takes_nothing ? Selection::Axis{} : selection.axis(i), dst.strides[i], src_strides.of(i));
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
  planner.add(1, {0, 1, 0}, dst.item_size, 0);  // takes nothing, even if there are no axes
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
