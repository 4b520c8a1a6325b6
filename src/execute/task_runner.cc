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
  explicit Outcome(const CancelledTest* cancelled) : cancelled_(cancelled) {}

  void attempt(const std::function<void(std::int64_t)>& body, std::int64_t i) noexcept {
    if (ended_.load(std::memory_order_relaxed)) return;
    try {
      if (cancelled_ != nullptr && (*cancelled_)()) {
        throw StatusException(Status(StatusCode::Cancelled, "cancelled"));
      }
      body(i);
    } catch (...) {
      const std::lock_guard lock(mutex_);
      if (!ended_.exchange(true)) thrown_ = std::current_exception();
    }
  }

  void rethrow_if_ended() {
    if (thrown_) std::rethrow_exception(thrown_);
  }

 private:
  const CancelledTest* cancelled_;
  std::atomic<bool> ended_ = false;
  std::mutex mutex_;
  std::exception_ptr thrown_;
};

}  // namespace

void TaskRunner::run_many(std::int64_t count, const std::function<void(std::int64_t)>& body) const {
  Outcome outcome(cancelled_);
  executor_.run(count, [&](std::int64_t i) { outcome.attempt(body, i); });
  outcome.rethrow_if_ended();
}

}  // namespace backslice
