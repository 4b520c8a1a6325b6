#include "plan/schedule.h"

#include "core/caches.h"
#include "core/items.h"
#include "plan/cut.h"
#include "plan/pages.h"

namespace backslice {
namespace {

// Objects are moved one by one, so that a run of them is not a longer item.
Widen widen_for(DType dtype) { return operations_of(dtype).are_bytes() ? Widen::Yes : Widen::No; }

Schedule scheduled(Plan plan, DType dtype, int threads) {
  Schedule schedule{std::move(plan)};
  if (schedule.plan.is_empty()) return schedule;
  if (!operations_of(dtype).are_bytes()) {
    schedule.strategy = Strategy::OneByOne;
    return schedule;
  }
  const std::int64_t bytes = schedule.plan.dst_bytes();
  schedule.stores = stores_for(bytes);
  schedule.strategy = schedule.stores == Stores::Streaming ? Strategy::Streaming : Strategy::Cached;
  schedule.pieces = pieces_for(bytes, threads);
  return schedule;
}

// Sums are read before they are written: nothing is gained past the caches.
Schedule scheduled_sum(Plan plan, DType dtype, int threads) {
  Schedule schedule = scheduled(std::move(plan), dtype, threads);
  if (schedule.strategy == Strategy::Streaming) schedule.strategy = Strategy::Cached;
  schedule.stores = Stores::Ordinary;
  return schedule;
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

Stores stores_for(std::int64_t bytes) { return bytes > last_level_cache() ? Stores::Streaming : Stores::Ordinary; }

Schedule schedule_slice(const Selection& selection, const Layout& y, const Layout& x, DType dtype, int threads) {
  return scheduled(plan_gather(selection, y, x, widen_for(dtype)), dtype, threads);
}

Schedule schedule_gradient(const Selection& selection, const Layout& dx, const Layout& dy, Write write,
                           DType dtype, int threads) {
  switch (write) {
    case Write::Accumulate: return scheduled_sum(plan_scatter_taken(selection, dx, dy, Widen::No), dtype, threads);
    case Write::IntoZeros:
      return scheduled(plan_scatter_taken(selection, dx, dy, widen_for(dtype)), dtype, threads);
    case Write::Overwrite: break;
  }
  return scheduled(plan_scatter(selection, dx, dy, widen_for(dtype)), dtype, threads);
}

Schedule schedule_new_gradient(const Selection& selection, const Layout& dy, bool zeros_are_free, DType dtype, int threads) {
  const Layout dx = contiguous_layout(selection.shape(), dy.item_size);
  if (!zeros_are_free || !operations_of(dtype).are_bytes() || !prefers_fresh_zeros(selection, dx)) {
    return schedule_gradient(selection, dx, dy, Write::Overwrite, dtype, threads);
  }
  Schedule schedule = schedule_gradient(selection, dx, dy, Write::IntoZeros, dtype, threads);
  schedule.strategy = Strategy::FreshZeros;
  return schedule;
}

Schedule schedule_copy(const Layout& dst, const Layout& src, DType dtype, int threads) {
  return scheduled(plan_copy(dst, src, widen_for(dtype)), dtype, threads);
}

Schedule schedule_addition(const Layout& dst, const Layout& src, DType dtype, int threads) {
  return scheduled_sum(plan_copy(dst, src, Widen::No), dtype, threads);
}

Schedule schedule_zero(const Layout& dst, DType dtype, int threads) {
  return scheduled(plan_zero(dst, widen_for(dtype)), dtype, threads);
}

}  // namespace backslice
