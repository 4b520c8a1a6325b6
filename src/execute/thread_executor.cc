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
#include <mutex>
#include <thread>
#include <vector>

#include "backslice/executor.h"
#include "core/faults.h"

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
  void take_tasks() {
    for (std::int64_t i = next++; i < count; i = next++) task(i);
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

class ThreadExecutor final : public Executor {
 public:
  explicit ThreadExecutor(int threads) : most_workers_(threads - 1) {}

  ~ThreadExecutor() override {
    {
      const std::lock_guard lock(mutex_);
      stopping_ = true;
      ++changes_;
    }
    wake_.notify_all();
    for (std::thread& worker : workers_) worker.join();
  }

  int concurrency() const override { return most_workers_ + 1; }

  void run(std::int64_t count, const std::function<void(std::int64_t)>& task) override {
    if (count <= 0) return;
    Job job(count, task);
    if (count == 1 || most_workers_ == 0) return job.take_tasks();
    list(job);
    job.take_tasks();
    retire(job);
  }

 private:
  void list(Job& job) {
    const auto wanted = static_cast<int>(std::min<std::int64_t>(most_workers_, job.count - 1));
    int sleepers;
    {
      const std::lock_guard lock(mutex_);
      start_workers(wanted);
      job.after = jobs_;
      jobs_ = &job;
      ++changes_;
      sleepers = sleepers_;
    }
    if (wanted >= sleepers) {
      if (sleepers > 0) wake_.notify_all();
    } else {
      for (int i = 0; i < wanted; ++i) wake_.notify_one();
    }
  }

  void retire(Job& job) {
    std::unique_lock lock(mutex_);
    Job** link = &jobs_;
    while (*link != &job) link = &(*link)->after;
    *link = job.after;
    if (job.helpers == 0) return;
    lock.unlock();
    if (spin_until([&] { return job.helpers.load(std::memory_order_acquire) == 0; })) return;
    lock.lock();
    left_.wait(lock, [&] { return job.helpers == 0; });
  }

  // Where the system gives no more threads, fewer do.
  void start_workers(int wanted) noexcept {
    if (static_cast<int>(workers_.size()) >= wanted) return;
    const BlockedSignals for_the_new_threads;
    try {
      while (static_cast<int>(workers_.size()) < wanted && !faults::strikes()) {
        workers_.reserve(workers_.size() + 1);  // before the thread: one that runs must be kept
        workers_.emplace_back([this] { work(); });
      }
    } catch (...) {  // no memory, or no thread
    }
  }

  void work() {
    std::unique_lock lock(mutex_);
    while (!stopping_) {
      if (Job* job = find_job()) {
        ++job->helpers;
        lock.unlock();
        job->take_tasks();
        lock.lock();
        // This is the last touch: the caller may then return, and the job with it.
        if (job->helpers.fetch_sub(1, std::memory_order_release) == 1) left_.notify_all();
        continue;
      }
      const std::uint64_t seen = changes_;
      lock.unlock();
      const bool changed = spin_until([&] { return changes_.load(std::memory_order_relaxed) != seen; });
      lock.lock();
      if (changed || changes_ != seen) continue;
      ++sleepers_;
      wake_.wait(lock, [&] { return changes_ != seen; });
      --sleepers_;
    }
  }

  Job* find_job() const {
    Job* job = jobs_;
    while (job != nullptr && !job->has_tasks()) job = job->after;
    return job;
  }

  const int most_workers_;
  std::mutex mutex_;
  std::condition_variable wake_, left_;
  std::vector<std::thread> workers_;
  Job* jobs_ = nullptr;                     // newest first: what a task waits for comes before other work
  std::atomic<std::uint64_t> changes_ = 0;  // of the list; changed under the mutex
  int sleepers_ = 0;
  bool stopping_ = false;
};

}  // namespace

std::unique_ptr<Executor> make_thread_executor(int threads) {
  return std::make_unique<ThreadExecutor>(std::max(threads, 1));
}

}  // namespace backslice
