#include "core/fork.h"

#include <pthread.h>

#include <cassert>

#include "core/boundary.h"

namespace backslice {
namespace {

std::atomic<std::uint32_t> generation = 0;

// Registered before main, so that every fork after the library's first call is counted.
[[maybe_unused]] const int registered =
    pthread_atfork(nullptr, nullptr, [] { generation.fetch_add(1, std::memory_order_relaxed); });

[[noreturn]] void throw_abandoned() {
  throw StatusException(
      Status(StatusCode::FailedPrecondition,
             "a thread of the parent process was using this when the process was forked, and what it did is half done; "
             "make a new one in the child, or fork while no other thread uses it"));
}

// The state of a shared mutex: the generation of the first holder, and below it kAlone or the number of sharers.
constexpr std::uint64_t kHolders = 0xffffffff, kAlone = 0x80000000;
std::uint64_t now() { return std::uint64_t{fork_generation()} << 32; }
bool is_abandoned(std::uint64_t state) { return (state & ~kHolders) != now(); }

}  // namespace

std::uint32_t fork_generation() noexcept { return generation.load(std::memory_order_relaxed); }

#ifndef NDEBUG
namespace {
thread_local int held_locks = 0;
}
void count_held_lock(int change) noexcept { held_locks += change; }
void check_no_lock_is_held() noexcept { assert(held_locks == 0); }
#endif

void ForkAwareMutex::acquire() {
  const std::uint32_t own = fork_generation() + 1;
  for (std::uint32_t seen = kFree; !holder_.compare_exchange_weak(seen, own, std::memory_order_acquire);) {
    if (seen == kFree) continue;
    if (seen != own) throw_abandoned();
    holder_.wait(seen, std::memory_order_relaxed);
    seen = kFree;
  }
}

void ForkAwareSharedMutex::lock() {
  for (std::uint64_t seen = state_.load(std::memory_order_relaxed);;) {
    if ((seen & kHolders) == 0) {
      if (state_.compare_exchange_weak(seen, now() | kAlone, std::memory_order_acquire)) return count_held_lock(1);
      continue;
    }
    if (is_abandoned(seen)) throw_abandoned();
    state_.wait(seen, std::memory_order_relaxed);
    seen = state_.load(std::memory_order_relaxed);
  }
}

void ForkAwareSharedMutex::unlock() noexcept {
  count_held_lock(-1);
  state_.store(0, std::memory_order_release);
  state_.notify_all();
}

void ForkAwareSharedMutex::lock_shared() {
  for (std::uint64_t seen = state_.load(std::memory_order_relaxed);;) {
    if ((seen & kAlone) == 0) {
      const std::uint64_t one_more = (seen & kHolders) == 0 ? now() + 1 : seen + 1;
      if (state_.compare_exchange_weak(seen, one_more, std::memory_order_acquire)) return count_held_lock(1);
      continue;
    }
    if (is_abandoned(seen)) throw_abandoned();
    state_.wait(seen, std::memory_order_relaxed);
    seen = state_.load(std::memory_order_relaxed);
  }
}

void ForkAwareSharedMutex::unlock_shared() noexcept {
  count_held_lock(-1);
  const std::uint64_t before = state_.fetch_sub(1, std::memory_order_release);
  if ((before & kHolders) == 1) state_.notify_all();
}

}  // namespace backslice
