#include "plan/schedule.h"

#include <algorithm>

#include "core/caches.h"
#include "core/items.h"
#include "core/tuning.h"
#include "plan/pages.h"

namespace backslice {
namespace {

constexpr ExecutionPolicy kOneByOne{Strategy::OneByOne, Stores::Ordinary, 0};

// Returns the policy for writing `bytes` of a tensor of `whole` bytes. A tensor larger than the caches would only evict
// everything else from them.
ExecutionPolicy policy_within(std::int64_t whole, std::int64_t bytes, std::int64_t work_per_byte) {
  if (bytes == 0) return {};
  const std::int64_t work = work_of(bytes, work_per_byte);
  if (std::max(whole, bytes) > cache_for_results()) return {Strategy::Streaming, Stores::Streaming, work};
  return {Strategy::Cached, Stores::Ordinary, work};
}

// How many bytes are copied in the time of one byte of an item that is moved alone. An item shorter than a word takes
// as long as a word.
std::int64_t work_per_byte(const Plan& plan) {
  constexpr std::int64_t kWord = 4;
  return std::max<std::int64_t>(1, kWord / plan.item_size());
}

bool has_dense_rows(const Plan& plan) {
  if (plan.loops().empty()) return true;
  const Loop& row = plan.loops().back();
  return row.dst_stride == plan.item_size() && row.src_stride == plan.item_size();
}

// Returns the work of writing to the caches. Zeros between the items of a row are stored with them: they cost less than
// items, which are also read, and more than zeros by themselves.
std::int64_t work_in_cache(const Plan& plan, std::int64_t per_byte) {
  const std::int64_t taken = plan.taken_bytes(), zeros = plan.dst_bytes() - taken;
  std::int64_t between = 0;
  if (!plan.loops().empty()) {
    const Loop& row = plan.loops().back();
    if ((row.step - 1) * row.dst_stride < kTuning.zero_run) between = std::min(zeros, taken * (row.step - 1));
  }
  return work_of(taken, per_byte) + between / kTuning.mixed_zero_speed + (zeros - between) / kTuning.zero_speed;
}

// Completes a schedule that has its plan.
void decide(Schedule& schedule, DType dtype, std::int64_t whole = 0) {
  if (schedule.plan.is_empty()) return;
  if (!are_bytes(dtype)) {
    static_cast<ExecutionPolicy&>(schedule) = kOneByOne;
    return;
  }
  const std::int64_t bytes = schedule.plan.dst_bytes(), per_byte = work_per_byte(schedule.plan);
  static_cast<ExecutionPolicy&>(schedule) = policy_within(whole, bytes, per_byte);
  if (schedule.strategy != Strategy::Cached) return;
  schedule.work = work_in_cache(schedule.plan, per_byte);
}

// The same for sums. Sums read the destination, so they gain nothing by stores that bypass the caches.
void decide_sum(Schedule& schedule, DType dtype) {
  if (schedule.plan.is_empty()) return;
  schedule.strategy = Strategy::Cached;
  const std::int64_t per_byte = has_dense_rows(schedule.plan) ? 1 : work_per_byte(schedule.plan);
  schedule.work = work_of(schedule.plan.dst_bytes(), std::max(per_byte, operations_of(dtype).addition_work));
}

// Decides on fresh zeros. If the selection is a small part of a large tensor, memory that is fresh from the system, and
// zero already, is faster than warm memory that must be zeroed: only the pages that the selection touches cost time.
class FreshZeros {
 public:
  FreshZeros(const Layout& out, FreeZeros free)
      : out_(out), huge_(free == FreeZeros::InAnyPages ? huge_page_bytes() : 0) {
    const std::int64_t bytes = out.shape.elements() * out.item_size;
    if (free != FreeZeros::None && bytes >= kTuning.least_fresh)
      pages_left_ = bytes / (kTuning.first_touch * page_bytes());
  }

  // Adds a selection to be written. Returns whether fresh zeros are still faster.
  bool are_worth(const Selection& selection) {
    if (pages_left_ <= 0) return false;
    const std::int64_t pages = pages_touched(selection, out_, page_bytes());
    std::int64_t touches = pages;
    if (huge_ > 0)
      touches = std::min(pages, kTuning.huge_touch * std::min(pages, pages_touched(selection, out_, huge_)));
    pages_left_ -= std::min(pages_left_, touches);
    saved_ += pages - touches;
    return pages_left_ > 0;
  }

  // Whether fresh zeros cost less in huge pages.
  bool are_close_together() const { return saved_ > 0; }

 private:
  const Layout& out_;
  const std::int64_t huge_;
  std::int64_t pages_left_ = 0, saved_ = 0;
};

// Makes a policy write into fresh zeros.
void use_fresh_zeros(ExecutionPolicy& policy, const FreshZeros& zeros) {
  policy.strategy = Strategy::FreshZeros;
  policy.in_huge_pages = zeros.are_close_together();
}

// Returns an upper bound for the bytes of the output that the slices select.
std::int64_t bytes_taken(std::span<const SliceGradient> slices, const Layout& out) {
  std::int64_t left = out.shape.elements();
  for (const SliceGradient& slice : slices) left -= std::min(left, slice.selection.result_shape().elements());
  return (out.shape.elements() - left) * out.item_size;
}

}  // namespace

bool fills_huge_pages(const Selection& selection, const Layout& zeros) {
  const std::int64_t huge = huge_page_bytes();
  if (huge == 0 || zeros.shape.elements() * zeros.item_size < kTuning.least_fresh) return false;
  const std::int64_t touched = pages_touched(selection, zeros, page_bytes()) * page_bytes();
  return touched >= pages_touched(selection, zeros, huge) * (huge / 2);
}

std::string_view name(Strategy strategy) {
  switch (strategy) {
    case Strategy::Nothing: return "nothing";
    case Strategy::FreshZeros: return "fresh zeros";
    case Strategy::Cached: return "cached";
    case Strategy::Streaming: return "streaming";
    case Strategy::OneByOne: return "one by one";
    case Strategy::Gather: return "gather";
  }
  return "unknown";
}

Schedule schedule_slice(const Selection& selection, const Layout& y, const Layout& x, DType dtype) {
  Schedule schedule([&] { return plan_gather(selection, y, x, widen_for(dtype)); });
  decide(schedule, dtype);
  return schedule;
}

Schedule schedule_gradient(const Selection& selection, const Layout& dx, const Layout& dy, Write write, DType dtype) {
  const bool adds = write == Write::Accumulate;
  const auto plan = write == Write::Overwrite ? plan_scatter : plan_scatter_taken;
  Schedule schedule([&] { return plan(selection, dx, dy, adds ? Widen::No : widen_for(dtype)); });
  adds ? decide_sum(schedule, dtype) : decide(schedule, dtype);
  return schedule;
}

Schedule schedule_new_gradient(const Selection& selection, const Layout& dy, FreeZeros free_zeros, DType dtype) {
  const Layout dx = contiguous_layout(selection.shape(), dy.item_size);
  FreshZeros zeros(dx, free_zeros);
  const bool fresh = are_bytes(dtype) && zeros.are_worth(selection);
  Schedule schedule = schedule_gradient(selection, dx, dy, fresh ? Write::IntoZeros : Write::Overwrite, dtype);
  if (fresh) use_fresh_zeros(schedule, zeros);
  return schedule;
}

Schedule schedule_copy(const Layout& dst, const Layout& src, DType dtype, std::int64_t whole) {
  Schedule schedule([&] { return plan_copy(dst, src, widen_for(dtype)); });
  decide(schedule, dtype, whole);
  return schedule;
}

Schedule schedule_addition(const Layout& dst, const Layout& src, DType dtype) {
  Schedule schedule([&] { return plan_copy(dst, src, Widen::No); });
  decide_sum(schedule, dtype);
  return schedule;
}

Schedule schedule_zero(const Layout& dst, DType dtype, std::int64_t whole) {
  Schedule schedule([&] { return plan_zero(dst, widen_for(dtype)); });
  decide(schedule, dtype, whole);
  return schedule;
}

ExecutionPolicy policy_for(std::int64_t bytes, std::int64_t work_per_byte) {
  return policy_within(bytes, bytes, work_per_byte);
}

ExecutionPolicy policy_for_sum(std::span<const SliceGradient> slices, const Layout& dx, Write write, bool disjoint,
                               DType dtype) {
  if (!are_bytes(dtype)) return kOneByOne;
  const std::int64_t bytes = write == Write::Overwrite ? dx.shape.elements() * dx.item_size : bytes_taken(slices, dx);
  return policy_for(bytes, disjoint ? 1 : operations_of(dtype).addition_work);
}

ExecutionPolicy policy_for_new_sum(std::span<const SliceGradient> slices, const Layout& dx, FreeZeros free_zeros,
                                   bool disjoint, DType dtype) {
  FreshZeros zeros(dx, free_zeros);
  const auto are_worth = [&](const SliceGradient& slice) { return zeros.are_worth(slice.selection); };
  const bool fresh = are_bytes(dtype) && std::all_of(slices.begin(), slices.end(), are_worth);
  ExecutionPolicy policy = policy_for_sum(slices, dx, fresh ? Write::IntoZeros : Write::Overwrite, disjoint, dtype);
  if (fresh) use_fresh_zeros(policy, zeros);
  return policy;
}

}  // namespace backslice
