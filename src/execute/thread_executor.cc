// A pool of plain threads that serves any number of callers at once, also its own tasks.
//
// A call of run() is a Job on the caller's stack. The caller puts it into a slot, with as many seats as it can use
// helpers, and works on it. A worker that finds a free seat takes it, and works on the job until it has no tasks left.
// Then the slot is closed, and the caller waits for the helpers that are still seated. A caller can always finish its
// own job alone, so there is no circular wait: not with nested calls, not without a slot, and not with fewer threads
// than requested.
//
// A job may take less time than a contended mutex: only threads that go to sleep, or wake others, lock one.
#include <pthread.h>
#include <signal.h>

#include <algorithm>
#include <atomic>
#include <bit>
#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <memory>
#include <mutex>
#include <new>
#include <thread>

#include "backslice/executor.h"
#include "core/boundary.h"
#include "core/faults.h"
#include "core/fork.h"
#include "core/tuning.h"
#include "execute/default_pool.h"
#include "execute/job.h"

namespace backslice {
namespace {

void pause_briefly() {
#if defined(__x86_64__) || defined(__i386__)
  __builtin_ia32_pause();
#elif defined(__aarch64__)
  __asm__ __volatile__("yield");
#endif
}

// Waking a thread takes longer than a small job, so a thread looks for work for this long before it sleeps.
template <class Done>
bool spin_until(const Done& done) {
  constexpr auto kLongest = std::chrono::microseconds(50);
  const auto end = std::chrono::steady_clock::now() + kLongest;
  do {
    for (int i = 0; i < 64; ++i) {
      if (done()) return true;
      pause_briefly();
    }
  } while (std::chrono::steady_clock::now() < end);
  return false;
}

// Blocks all signals except those that a thread causes itself, such as SIGBUS for a mapped file that became shorter. If
// they were blocked, they would end the process without calling their handler.
class BlockedSignals {
 public:
  BlockedSignals() {
    sigset_t all;
    sigfillset(&all);
    for (int own : {SIGBUS, SIGSEGV, SIGFPE, SIGILL, SIGTRAP}) sigdelset(&all, own);
    pthread_sigmask(SIG_SETMASK, &all, &before_);
  }
  ~BlockedSignals() { pthread_sigmask(SIG_SETMASK, &before_, nullptr); }

 private:
  sigset_t before_;
};

// State shared by a pool and its threads, which lives until the last of them is gone.
struct Shared {
  explicit Shared(int most) : threads(most) {}

  const int threads;  // largest number of threads on a job, including the caller
  static constexpr int kSlots = 64;
  Slot slots[kSlots];
  alignas(64) std::atomic<std::uint64_t> taken = 0;  // a bit for each slot that has a job
  // A bit for each slot that may have a free seat, and a count of how often a bit was set.
  alignas(64) std::atomic<std::uint64_t> listed = 0;
  std::atomic<std::uint64_t> changes = 0;

  alignas(64) std::atomic<int> sleepers = 0, waiters = 0;  // workers without a job, callers without a task
  std::atomic<int> workers = 0;                            // changed under the mutex
  std::atomic<bool> is_ending = false;                     // threads end when they find no job
  std::mutex mutex;
  std::condition_variable wake, left, ended;

  // Returns a free slot, or -1.
  int take_slot() {
    std::uint64_t seen = taken.load(std::memory_order_relaxed);
    while (~seen != 0) {
      const int slot = std::countr_one(seen);
      if (taken.compare_exchange_weak(seen, seen | bit(slot), std::memory_order_acquire)) return slot;
    }
    return -1;
  }
  void give_slot_back(int slot) { taken.fetch_and(~bit(slot), std::memory_order_release); }

  void list(int slot) {
    listed |= bit(slot);
    ++changes;
  }
  void close(int slot) {
    if ((listed & bit(slot)) == 0) return;  // many helpers close it, and a write is expensive
    listed &= ~bit(slot);
    slots[slot].close();
  }

  void wake_workers(int wanted) {
    const int asleep = sleepers;
    if (asleep == 0) return;
    synchronize_with_waiters();
    if (wanted >= asleep) return wake.notify_all();
    for (int i = 0; i < wanted; ++i) wake.notify_one();
  }

  void wake_callers() {
    if (waiters == 0) return;
    synchronize_with_waiters();
    left.notify_all();
  }

  // Precondition: the mutex is held.
  void let_threads_end() {
    is_ending = true;
    ++changes;
    wake.notify_all();
  }

 private:
  static std::uint64_t bit(int slot) { return std::uint64_t{1} << slot; }

  // Threads check for changes under the mutex before they sleep. So after this lock, they are asleep or have seen the
  // change.
  void synchronize_with_waiters() { const std::lock_guard lock(mutex); }
};

// Works on a job with a free seat, and returns whether there was one. Starts at the last slot: jobs that a task waits
// for come before other work.
bool help(Shared& pool, int own) {
  for (std::uint64_t listed = pool.listed; listed != 0; listed &= ~std::bit_floor(listed)) {
    const int slot = static_cast<int>(std::bit_width(listed)) - 1;
    Job* const job = pool.slots[slot].enter();
    if (job == nullptr) continue;
    job->take_tasks(own, pool.threads);
    pool.close(slot);
    if (pool.slots[slot].leave()) pool.wake_callers();  // the job may be gone from here on
    return true;
  }
  return false;
}

void wait_for_change(Shared& pool, std::uint64_t seen) {
  const auto changed = [&] { return pool.changes.load() != seen; };
  if (spin_until(changed)) return;
  std::unique_lock lock(pool.mutex);
  ++pool.sleepers;
  pool.wake.wait(lock, changed);
  --pool.sleepers;
}

// The loop of a worker thread.
void work(Shared& pool, int own) {
  be_ready_to_throw();
  for (;;) {
    const std::uint64_t seen = pool.changes;
    if (help(pool, own)) continue;
    if (pool.is_ending) break;
    wait_for_change(pool, seen);
  }
  const std::lock_guard lock(pool.mutex);
  if (--pool.workers == 0) pool.ended.notify_all();
}

// In a forked child the pool has no threads, and runs everything on the caller's thread.
class ThreadExecutor final : public Executor {
 public:
  explicit ThreadExecutor(int threads) : most_workers_(threads - 1), shared_(std::make_shared<Shared>(threads)) {}

  ~ThreadExecutor() override {
    if (is_before_fork()) {
      // A reference that is never released: objects that the parent's threads held or waited for cannot be destroyed.
      alignas(std::shared_ptr<Shared>) std::byte kept[sizeof(std::shared_ptr<Shared>)];
      new (kept) std::shared_ptr<Shared>(shared_);
      return;
    }
    std::unique_lock lock(shared_->mutex);
    shared_->let_threads_end();
    shared_->ended.wait(lock, [&] { return shared_->workers == 0; });
  }

  int concurrency() const override { return most_workers_ + 1; }

  // Waking threads takes as long as writing some megabytes. So in a series of smaller jobs only some wake threads,
  // which then stay awake for the next jobs.
  std::int64_t least_work() const override {
    if (shared_->sleepers < shared_->workers) return kLeastWork;
    const bool tries = asked_asleep_++ % kTuning.tries_asleep == kTuning.tries_asleep - 1;
    return tries ? kLeastWork : kTuning.asleep * kLeastWork;
  }

  void run(std::int64_t count, const std::function<void(std::int64_t)>& task) override {
    if (count <= 0) return;
    const int slot = count == 1 || most_workers_ == 0 || is_before_fork() ? -1 : shared_->take_slot();
    if (slot < 0) return serial_executor().run(count, task);
    const auto helpers = static_cast<int>(std::min<std::int64_t>(std::min(most_workers_, Slot::kMostSeats), count - 1));
    Job job(count, task, helpers + 1);
    invite(job, slot, helpers);
    const std::int64_t taken = job.take_tasks(0, shared_->threads);
    if (!is_before_fork()) return retire(slot);
    if (taken < count) {  // a task forked, and this is the child: tasks of other threads are lost
      throw StatusException(Status(StatusCode::FailedPrecondition,
                                   "the process was forked during this operation, and the threads that worked on it "
                                   "are not in the child; call it again there"));
    }
  }

  // Lets the threads end when they have no work, until they are needed again. Meanwhile each job starts threads of its
  // own.
  void let_threads_end(bool let) {
    if (is_before_fork()) return;
    const std::lock_guard lock(shared_->mutex);
    if (let) {
      shared_->let_threads_end();
    } else {
      shared_->is_ending = false;
    }
  }

 private:
  bool is_before_fork() const { return generation_ != fork_generation(); }

  void invite(Job& job, int slot, int helpers) {
    shared_->slots[slot].open(job, helpers);
    shared_->list(slot);
    start_workers(helpers);  // if threads are to end, new ones stay only if they find a job
    shared_->wake_workers(helpers);
  }

  void retire(int slot) {
    const auto is_empty = [&] { return shared_->slots[slot].is_empty(); };
    shared_->close(slot);
    if (!spin_until(is_empty)) {
      std::unique_lock lock(shared_->mutex);
      ++shared_->waiters;
      shared_->left.wait(lock, is_empty);
      --shared_->waiters;
    }
    shared_->give_slot_back(slot);
  }

  // If the system provides no more threads, the pool has fewer.
  void start_workers(int wanted) noexcept {
    if (shared_->workers >= wanted) return;
    const std::lock_guard lock(shared_->mutex);
    const BlockedSignals for_the_new_threads;
    try {
      while (shared_->workers < wanted && !faults::strikes()) {
        std::thread([shared = shared_, own = shared_->workers + 1] { work(*shared, own); }).detach();
        ++shared_->workers;  // it needs the mutex to end
      }
    } catch (...) {  // out of memory, or no more threads
    }
  }

  const int most_workers_;
  mutable std::atomic<std::uint32_t> asked_asleep_ = 0;
  const std::uint32_t generation_ = fork_generation();
  const std::shared_ptr<Shared> shared_;
};

}  // namespace

std::unique_ptr<Executor> make_thread_executor(int threads) {
  return std::make_unique<ThreadExecutor>(std::max(threads, 1));
}

void let_threads_end(Executor& pool, bool let) {
  if (auto* threads = dynamic_cast<ThreadExecutor*>(&pool)) threads->let_threads_end(let);
}

}  // namespace backslice
