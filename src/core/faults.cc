#include "core/faults.h"

#include <atomic>

namespace backslice::faults {
namespace {

constexpr std::int64_t kUnarmed = -1;

// Number of requests before the one that fails, or kUnarmed.
std::atomic<std::int64_t> left = kUnarmed;

}  // namespace

bool strikes() noexcept {
  std::int64_t before = left.load(std::memory_order_relaxed);
  while (before != kUnarmed && !left.compare_exchange_weak(before, before - 1, std::memory_order_relaxed)) {
  }
  return before == 0;
}

void strike_at(std::int64_t n) noexcept { left = n; }

bool disarm() noexcept { return left.exchange(kUnarmed) == kUnarmed; }

}  // namespace backslice::faults
