// A pool of plain std::threads.
#include <atomic>
#include <condition_variable>
#include <mutex>
#include <thread>
#include <vector>

#include "backslice/executor.h"

namespace backslice {
namespace {

class ThreadExecutor final : public Executor {
 public:
  explicit ThreadExecutor(int threads) {
    for (int i = 1; i < threads; ++i) workers_.emplace_back([this] { work(); });
  }

  ~ThreadExecutor() override {
    {
      const std::lock_guard lock(mutex_);
      stopping_ = true;
    }
    wake_.notify_all();
    for (std::thread& worker : workers_) worker.join();
  }

  int concurrency() const override { return static_cast<int>(workers_.size()) + 1; }

  void run(std::int64_t count, const std::function<void(std::int64_t)>& task) override {
    const std::lock_guard one_at_a_time(run_mutex_);
    {
      const std::lock_guard lock(mutex_);
      task_ = &task;
      count_ = count;
      next_ = 0;
      busy_ = static_cast<int>(workers_.size());
      ++generation_;
    }
    wake_.notify_all();
    take_tasks();
    std::unique_lock lock(mutex_);
    done_.wait(lock, [&] { return busy_ == 0; });
  }

 private:
  void take_tasks() {
    for (std::int64_t i = next_++; i < count_; i = next_++) (*task_)(i);
  }

  void work() {
    std::uint64_t seen = 0;
    while (true) {
      {
        std::unique_lock lock(mutex_);
        wake_.wait(lock, [&] { return stopping_ || generation_ != seen; });
        if (stopping_) return;
        seen = generation_;
      }
      take_tasks();
      const std::lock_guard lock(mutex_);
      if (--busy_ == 0) done_.notify_one();
    }
  }

  std::mutex run_mutex_;  // one run() at a time
  std::mutex mutex_;
  std::condition_variable wake_, done_;
  std::vector<std::thread> workers_;
  const std::function<void(std::int64_t)>* task_ = nullptr;
  std::int64_t count_ = 0;
  std::atomic<std::int64_t> next_ = 0;
  int busy_ = 0;
  std::uint64_t generation_ = 0;
  bool stopping_ = false;
};

}  // namespace

std::unique_ptr<Executor> make_thread_executor(int threads) { return std::make_unique<ThreadExecutor>(threads); }

}  // namespace backslice
