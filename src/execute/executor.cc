#include "backslice/executor.h"

#include <oneapi/tbb/global_control.h>
#include <oneapi/tbb/info.h>
#include <oneapi/tbb/parallel_for.h>
#include <oneapi/tbb/task_arena.h>
#include <pthread.h>

#include <atomic>
#include <cstdlib>
#include <mutex>
#include <optional>
#include <thread>
#include <vector>

#include "core/errors.h"

namespace backslice {
namespace {

class SerialExecutor final : public Executor {
 public:
  int concurrency() const override { return 1; }
  void run(std::int64_t count, const std::function<void(std::int64_t)>& task) override {
    for (std::int64_t i = 0; i < count; ++i) task(i);
  }
};

class TbbExecutor final : public Executor {
 public:
  explicit TbbExecutor(int threads) : arena_(threads) {}
  int concurrency() const override { return arena_.max_concurrency(); }
  void run(std::int64_t count, const std::function<void(std::int64_t)>& task) override {
    arena_.execute([&] {
      oneapi::tbb::parallel_for(
          oneapi::tbb::blocked_range<std::int64_t>(0, count, 1),
          [&](const auto& range) {
            for (std::int64_t i = range.begin(); i < range.end(); ++i) task(i);
          },
          oneapi::tbb::simple_partitioner());
    });
  }

 private:
  oneapi::tbb::task_arena arena_;
};

int initial_threads() {
  if (const char* text = std::getenv("BACKSLICE_NUM_THREADS")) {
    if (const int threads = std::atoi(text); threads >= 1) return threads;
  }
  return std::max(1u, std::thread::hardware_concurrency());
}

// The process's executor. It is never destroyed: tasks of other threads may still run at exit, and in a forked child
// its threads do not exist.
class Default {
 public:
  static Default& instance() {
    static auto* self = new Default;
    return *self;
  }

  Executor& executor() {
    if (Executor* ready = current_.load(std::memory_order_acquire)) return *ready;
    const std::lock_guard lock(mutex_);
    if (current_.load() == nullptr) current_ = make();
    return *current_;
  }

  void set_threads(int threads) {
    const std::lock_guard lock(mutex_);
    threads_ = threads;
    current_ = nullptr;  // the old one may be in use by another thread, and stays
  }

  int threads() const { return threads_; }

 private:
  Default() : threads_(initial_threads()) {
    pthread_atfork(nullptr, nullptr, [] { instance().after_fork(); });
  }

  Executor* make() {
    if (threads_ == 1) return &serial_executor();
    if (!forked_) allow_workers(threads_);
    made_.push_back(forked_ ? make_thread_executor(threads_).release() : new TbbExecutor(threads_));
    return made_.back();
  }

  // oneTBB has as many workers as cores, and ignores a request for more with a warning on standard error. Of several
  // limits the lowest holds, so there is one, which grows.
  void allow_workers(int threads) {
    if (threads <= most_workers_) return;
    more_workers_.reset();
    more_workers_.emplace(oneapi::tbb::global_control::max_allowed_parallelism, threads);
    most_workers_ = threads;
  }

  // Only the forking thread lives on in the child: oneTBB's workers and whoever held the lock are gone.
  void after_fork() {
    new (&mutex_) std::mutex;
    forked_ = true;
    current_ = nullptr;
  }

  std::mutex mutex_;
  std::vector<Executor*> made_;  // all of them: an old one may still be in use
  std::atomic<Executor*> current_ = nullptr;
  std::atomic<int> threads_;
  bool forked_ = false;
  int most_workers_ = oneapi::tbb::info::default_concurrency();
  std::optional<oneapi::tbb::global_control> more_workers_;
};

}  // namespace

Executor& serial_executor() {
  static SerialExecutor serial;
  return serial;
}

Executor& default_executor() { return Default::instance().executor(); }

Status set_num_threads(int threads) {
  if (threads < 1) return invalid_argument("threads is ", threads, ", must be >= 1");
  Default::instance().set_threads(threads);
  return Status();
}

int num_threads() { return Default::instance().threads(); }

}  // namespace backslice
