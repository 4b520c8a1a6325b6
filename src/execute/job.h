// Jobs of a thread pool, and the slots in which helpers find them.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <functional>

#include "core/cut_at.h"

namespace backslice {

// Tasks are dealt out in shares. Each thread begins with the same share of every job, and helps with the others
// afterwards. So neighbouring tasks write neighbouring memory on one thread, and later calls find in a core's cache the
// memory that it wrote before.
class Job {
 public:
  Job(std::int64_t count, const std::function<void(std::int64_t)>& task, int threads)
      : count_(count), task_(task), shares_(static_cast<int>(std::min<std::int64_t>({count, threads, kMostShares}))) {
    for (int i = 0; i < shares_; ++i) next_[i].task.store(begin(i), std::memory_order_relaxed);
  }

  // Runs the tasks of thread `own` of `threads`. Returns their number.
  std::int64_t take_tasks(int own, int threads) {
    const int first = static_cast<int>(std::int64_t{own} * shares_ / threads);
    std::int64_t taken = 0;
    for (int i = 0; i < shares_; ++i) taken += take_share((first + i) % shares_);
    return taken;
  }

 private:
  static constexpr int kMostShares = 16;
  struct alignas(64) Next {
    std::atomic<std::int64_t> task;
  };

  std::int64_t begin(int share) const { return cut_at(count_, shares_, share); }

  std::int64_t take_share(int share) {
    std::atomic<std::int64_t>& next = next_[share].task;
    const std::int64_t end = begin(share + 1);
    std::int64_t taken = 0;
    while (next.load(std::memory_order_relaxed) < end) {
      const std::int64_t i = next++;
      if (i >= end) break;
      task_(i);
      ++taken;
    }
    return taken;
  }

  const std::int64_t count_;
  const std::function<void(std::int64_t)>& task_;
  const int shares_;
  Next next_[kMostShares];
};

// A place where helpers find a job. Seats are given away once: a helper leaves its seat when the job has no tasks left.
class alignas(64) Slot {
 public:
  static constexpr int kMostSeats = 0xffff;

  void open(Job& job, int seats) {
    job_ = &job;
    state_.store(static_cast<std::uint32_t>(seats) * kSeat, std::memory_order_release);
  }

  // Takes a seat. Returns the job, or null if no seat is free.
  Job* enter() {
    std::uint32_t state = state_.load(std::memory_order_relaxed);
    while (state >= kSeat) {
      if (state_.compare_exchange_weak(state, state - kSeat + kHelper, std::memory_order_acquire)) return job_;
    }
    return nullptr;
  }

  // Closes the slot: no more seats are given away. Called by helpers with a seat.
  void close() { state_ &= kSeat - 1; }
  // Leaves a seat. Returns whether the slot was closed and this helper was the last, so that the job may end.
  bool leave() { return state_.fetch_sub(kHelper) == kHelper; }
  bool is_empty() const { return state_.load() == 0; }

 private:
  static constexpr std::uint32_t kHelper = 1, kSeat = 1 << 16;

  std::atomic<std::uint32_t> state_ = 0;  // number of helpers, and of free seats
  Job* job_ = nullptr;
};

}  // namespace backslice
