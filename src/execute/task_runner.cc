#include "execute/task_runner.h"

#include <atomic>
#include <exception>
#include <mutex>

#include "core/boundary.h"
#include "core/fork.h"
#include "execute/supervised_run.h"

namespace backslice {
namespace {

// The outcome of the tasks of one run.
class Outcome {
 public:
  Outcome(const TaskRunner& runner, const std::function<void(std::int64_t)>& body) : runner_(runner), body_(body) {}

  void attempt(std::int64_t i) noexcept {
    if (ended_.load(std::memory_order_relaxed)) return;
    try {
      runner_.throw_if_cancelled();
      runner_.note_begun();
      body_(i);
    } catch (...) {
      const std::lock_guard lock(mutex_);
      if (!ended_.exchange(true)) thrown_ = std::current_exception();
    }
  }

  void rethrow_if_ended() {
    if (thrown_) std::rethrow_exception(thrown_);
  }

 private:
  const TaskRunner& runner_;
  const std::function<void(std::int64_t)>& body_;
  std::atomic<bool> ended_ = false;
  std::mutex mutex_;
  std::exception_ptr thrown_;
};

}  // namespace

std::int64_t TaskRunner::least_work() const {
  return calling("context.executor->least_work", [&] { return executor_.least_work(); });
}

void TaskRunner::run_many(std::int64_t count, const std::function<void(std::int64_t)>& body) const {
  Outcome outcome(*this, body);
  check_no_lock_is_held();
  if (Status status = run_supervised(executor_, count, [&](std::int64_t i) { outcome.attempt(i); }); !status.ok()) {
    throw StatusException(std::move(status));
  }
  outcome.rethrow_if_ended();
}

void TaskRunner::throw_if_cancelled() const {
  if (cancelled_ == nullptr) return;
  check_no_lock_is_held();
  if (calling("context.cancelled", *cancelled_))
    throw StatusException(Status(StatusCode::Cancelled, "the context ended the operation"));
}

}  // namespace backslice
