// A pool of plain threads that serves any number of callers at once, also its own tasks.
//
// A call of run() is a Job on the caller's stack. It is listed while it has tasks to give away; the caller and every
// worker that finds it there take tasks until none is left. Then the caller takes it off the list and waits for the
// workers that are still in it. Since a caller can always finish its own job alone, nothing waits in a circle: not
// nested calls, and not a pool that got fewer threads than it wanted, or none.
#include <pthread.h>
#include <signal.h>

#include <algorithm>
#include <atomic>
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
#include "execute/default_pool.h"

namespace backslice {
namespace {

void pause_briefly() {
#if defined(__x86_64__) || defined(__i386__)
  __builtin_ia32_pause();
#elif defined(__aarch64__)
  __asm__ __volatile__("yield");
#endif
}

// Waking a thread takes longer than small jobs do, so that a thread looks around for this long before it sleeps.
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

struct Job {
  Job(std::int64_t count, const std::function<void(std::int64_t)>& task) : count(count), task(task) {}

  bool has_tasks() const { return next.load(std::memory_order_relaxed) < count; }
  // Returns how many it took.
  std::int64_t take_tasks() {
    std::int64_t taken = 0;
    for (std::int64_t i = next++; i < count; i = next++, ++taken) task(i);
    return taken;
  }

  const std::int64_t count;
  const std::function<void(std::int64_t)>& task;
  std::atomic<std::int64_t> next = 0;
  std::atomic<int> helpers = 0;  // workers that are in it; changed under the pool's mutex
  Job* after = nullptr;          // in the pool's list
};

// Signals are for the threads of the program, not for ours; but for those that a thread brings on itself, such as
// SIGBUS where a mapped file became shorter: blocked, they end the process without their handler.
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

// What a pool and its threads share. It goes when the last of them does.
struct Shared {
  std::mutex mutex;
  std::condition_variable wake, left, ended;
  Job* jobs = nullptr;                     // newest first: what a task waits for comes before other work
  std::atomic<std::uint64_t> changes = 0;  // of the list; changed under the mutex
  int workers = 0, sleepers = 0;
  bool is_ending = false;  // threads end when they find no job

  Job* find_job() const {
    Job* job = jobs;
    while (job != nullptr && !job->has_tasks()) job = job->after;
    return job;
  }

  // Precondition for these: the mutex is held.
  void remove(Job& job) {
    Job** link = &jobs;
    while (*link != &job) link = &(*link)->after;
    *link = job.after;
  }
  void let_threads_end() {
    is_ending = true;
    ++changes;
    wake.notify_all();
  }
};

void help(Shared& pool, Job& job, std::unique_lock<std::mutex>& lock) {
  ++job.helpers;
  lock.unlock();
  job.take_tasks();
  lock.lock();
  // This is the last touch: the caller may then return, and the job with it.
  if (job.helpers.fetch_sub(1, std::memory_order_release) == 1) pool.left.notify_all();
}

void wait_for_change(Shared& pool, std::unique_lock<std::mutex>& lock) {
  const std::uint64_t seen = pool.changes;
  lock.unlock();
  const bool changed = spin_until([&] { return pool.changes.load(std::memory_order_relaxed) != seen; });
  lock.lock();
  if (changed || pool.changes != seen) return;
  ++pool.sleepers;
  pool.wake.wait(lock, [&] { return pool.changes != seen; });
  --pool.sleepers;
}

// What a thread of a pool does.
void work(Shared& pool) {
  be_ready_to_throw();
  std::unique_lock lock(pool.mutex);
  for (;;) {
    if (Job* job = pool.find_job()) {
      help(pool, *job, lock);
    } else if (pool.is_ending) {
      break;
    } else {
      wait_for_change(pool, lock);
    }
  }
  if (--pool.workers == 0) pool.ended.notify_all();
}

// In a forked child it has no threads, and runs everything on the caller's.
class ThreadExecutor final : public Executor {
 public:
  explicit ThreadExecutor(int threads) : most_workers_(threads - 1), shared_(std::make_shared<Shared>()) {}

  ~ThreadExecutor() override {
    if (is_before_fork()) {
      // A reference that nobody gives back: what the threads of the parent held or waited for cannot be destroyed.
      alignas(std::shared_ptr<Shared>) std::byte kept[sizeof(std::shared_ptr<Shared>)];
      new (kept) std::shared_ptr<Shared>(shared_);
      return;
    }
    std::unique_lock lock(shared_->mutex);
    shared_->let_threads_end();
    shared_->ended.wait(lock, [&] { return shared_->workers == 0; });
  }

  int concurrency() const override { return most_workers_ + 1; }

  void run(std::int64_t count, const std::function<void(std::int64_t)>& task) override {
    if (count <= 0) return;
    Job job(count, task);
    if (count == 1 || most_workers_ == 0 || is_before_fork()) return void(job.take_tasks());
    list(job);
    const std::int64_t own = job.take_tasks();
    if (!is_before_fork()) return retire(job);
    if (own < count) {  // a task forked, and this is the child: what others had taken is lost
      throw StatusException(Status(StatusCode::FailedPrecondition,
                                   "the process was forked during this operation, and the threads that worked on it "
                                   "are not in the child; call it again there"));
    }
  }

  // The threads end when nobody needs them, until they are to stay again; meanwhile each job has some of its own.
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

  void list(Job& job) {
    const auto wanted = static_cast<int>(std::min<std::int64_t>(most_workers_, job.count - 1));
    int sleepers;
    {
      const std::lock_guard lock(shared_->mutex);
      start_workers(wanted);
      job.after = shared_->jobs;
      shared_->jobs = &job;
      ++shared_->changes;
      sleepers = shared_->sleepers;
    }
    if (wanted >= sleepers) {
      if (sleepers > 0) shared_->wake.notify_all();
    } else {
      for (int i = 0; i < wanted; ++i) shared_->wake.notify_one();
    }
  }

  void retire(Job& job) {
    std::unique_lock lock(shared_->mutex);
    shared_->remove(job);
    if (job.helpers == 0) return;
    lock.unlock();
    if (spin_until([&] { return job.helpers.load(std::memory_order_acquire) == 0; })) return;
    lock.lock();
    shared_->left.wait(lock, [&] { return job.helpers == 0; });
  }

  // Where the system gives no more threads, fewer do.
  void start_workers(int wanted) noexcept {
    if (shared_->workers >= wanted) return;
    const BlockedSignals for_the_new_threads;
    try {
      while (shared_->workers < wanted && !faults::strikes()) {
        std::thread([shared = shared_] { work(*shared); }).detach();
        ++shared_->workers;  // it waits for the mutex
      }
    } catch (...) {  // no memory, or no thread
    }
  }

  const int most_workers_;
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
