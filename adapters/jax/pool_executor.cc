#include "pool_executor.h"

#include <algorithm>
#include <atomic>
#include <memory>
#include <new>

namespace backslice::jax {
namespace {

// Shared by one run and the threads that help. A late thread, even after run() has returned, finds nothing to do.
struct Job {
  const std::int64_t count;
  const std::function<void(std::int64_t)>& task;  // valid while a task is left
  std::atomic<std::int64_t> next = 0, done = 0;

  Job(std::int64_t tasks, const std::function<void(std::int64_t)>& body) : count(tasks), task(body) {}

  void work() {
    for (std::int64_t i; (i = next.fetch_add(1)) < count;) {
      task(i);
      if (done.fetch_add(1) + 1 == count) done.notify_all();
    }
  }

  void wait() const {
    for (std::int64_t seen; (seen = done.load()) < count;) done.wait(seen);
  }
};

}  // namespace

int PoolExecutor::concurrency() const {
  return static_cast<int>(std::clamp<std::int64_t>(pool_.num_threads(), 1, 1024));
}

void PoolExecutor::run(std::int64_t count, const std::function<void(std::int64_t)>& task) {
  const auto job = std::make_shared<Job>(count, task);
  const std::int64_t helpers = std::min<std::int64_t>(count, concurrency()) - 1;
  try {
    for (std::int64_t i = 0; i < helpers; ++i) pool_.Schedule([job] { job->work(); });
  } catch (const std::bad_alloc&) {  // fewer help
  }
  job->work();
  job->wait();
}

}  // namespace backslice::jax
