#include "plan/schedule.h"

#include "core/caches.h"
#include "core/items.h"
#include "plan/cut.h"
#include "plan/pages.h"

namespace backslice {
namespace {

// The rest of a schedule, once it has its plan.
void decide(Schedule& schedule, DType dtype) {
  if (schedule.plan.is_empty()) return;
  if (!are_bytes(dtype)) {
    schedule.strategy = Strategy::OneByOne;
    return;
  }
  const std::int64_t bytes = schedule.plan.dst_bytes();
  schedule.stores = stores_for(bytes);
  schedule.strategy = schedule.stores == Stores::Streaming ? Strategy::Streaming : Strategy::Cached;
  schedule.work = bytes;
}

// The same for sums, which are read before they are written: nothing is gained past the caches.
void decide_sum(Schedule& schedule, DType dtype) {
  if (schedule.plan.is_empty()) return;
  schedule.strategy = Strategy::Cached;
  schedule.work = work_of(schedule.plan.dst_bytes(), operations_of(dtype).addition_work);
}

// Where the selection is a small part of a large tensor, memory that is fresh from the system, and zero already, beats
// warm memory that must be zeroed: only the pages that the selection touches are paid for.
bool prefers_fresh_zeros(const Selection& selection, const Layout& out) {
  constexpr std::int64_t kWorthIt = 1 << 20;
  constexpr std::int64_t kFirstTouch = 32;  // how much slower a first touch is than zeroing warm memory
  const std::int64_t bytes = selection.shape().elements() * out.item_size;
  const std::int64_t page = page_bytes();
  return bytes >= kWorthIt && pages_touched(selection, out, page) < bytes / (kFirstTouch * page);
}

}  // namespace

std::string_view name(Strategy strategy) {
  switch (strategy) {
    case Strategy::Nothing: return "nothing";
    case Strategy::FreshZeros: return "fresh zeros";
    case Strategy::Cached: return "cached";
    case Strategy::Streaming: return "streaming";
    case Strategy::OneByOne: return "one by one";
  }
  return "unknown";
}

std::int64_t Schedule::pieces(int threads) const { return pieces_for(work, threads); }

Stores stores_for(std::int64_t bytes) { return bytes > last_level_cache() ? Stores::Streaming : Stores::Ordinary; }

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

Schedule schedule_new_gradient(const Selection& selection, const Layout& dy, bool zeros_are_free, DType dtype) {
  const Layout dx = contiguous_layout(selection.shape(), dy.item_size);
  const bool fresh = zeros_are_free && are_bytes(dtype) && prefers_fresh_zeros(selection, dx);
  Schedule schedule = schedule_gradient(selection, dx, dy, fresh ? Write::IntoZeros : Write::Overwrite, dtype);
  if (fresh) schedule.strategy = Strategy::FreshZeros;
  return schedule;
}

Schedule schedule_copy(const Layout& dst, const Layout& src, DType dtype) {
  Schedule schedule([&] { return plan_copy(dst, src, widen_for(dtype)); });
  decide(schedule, dtype);
  return schedule;
}

Schedule schedule_addition(const Layout& dst, const Layout& src, DType dtype) {
  Schedule schedule([&] { return plan_copy(dst, src, Widen::No); });
  decide_sum(schedule, dtype);
  return schedule;
}

Schedule schedule_zero(const Layout& dst, DType dtype) {
  Schedule schedule([&] { return plan_zero(dst, widen_for(dtype)); });
  decide(schedule, dtype);
  return schedule;
}

}  // namespace backslice
