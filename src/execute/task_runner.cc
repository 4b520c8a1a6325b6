#include "execute/task_runner.h"

#include <atomic>
#include <exception>
#include <mutex>

#include "core/boundary.h"

namespace backslice {
namespace {

// What has become of the tasks of one run.
class Outcome {
 public:
  explicit Outcome(const TaskRunner& runner) : runner_(runner) {}

  void attempt(const std::function<void(std::int64_t)>& body, std::int64_t i) noexcept {
    started_.store(true, std::memory_order_relaxed);
    if (ended_.load(std::memory_order_relaxed)) return;
    try {
      runner_.throw_if_cancelled();
      body(i);
    } catch (...) {
      const std::lock_guard lock(mutex_);
      if (!ended_.exchange(true)) thrown_ = std::current_exception();
    }
  }

  bool any_started() const { return started_; }

  void rethrow_if_ended() {
    if (thrown_) std::rethrow_exception(thrown_);
  }

 private:
  const TaskRunner& runner_;
  std::atomic<bool> started_ = false, ended_ = false;
  std::mutex mutex_;
  std::exception_ptr thrown_;
};

}  // namespace

void TaskRunner::run_many(std::int64_t count, const std::function<void(std::int64_t)>& body) const {
  Outcome outcome(*this);
  const auto attempt = [&](std::int64_t i) { outcome.attempt(body, i); };
  try {
    executor_.run(count, attempt);
  } catch (...) {  // it could not even begin: then this thread does the work
    if (outcome.any_started()) throw;
    for (std::int64_t i = 0; i < count; ++i) attempt(i);
  }
  outcome.rethrow_if_ended();
}

void TaskRunner::throw_if_cancelled() const {
  if (cancelled_ != nullptr && (*cancelled_)()) throw StatusException(Status(StatusCode::Cancelled, "cancelled"));
}

}  // namespace backslice
