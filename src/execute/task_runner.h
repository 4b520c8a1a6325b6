// TaskRunner: how one operation runs its tasks. The only place where kernels meet an Executor.
//
// Executors need tasks that do not throw and know nothing of cancellation. A TaskRunner wraps the tasks: it checks for
// cancellation between two tasks, and keeps exceptions until all tasks have returned. An executor that breaks its
// contract ends the operation with Internal (supervised_run.h).
#pragma once

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <functional>

#include "backslice/executor.h"

namespace backslice {

class TaskRunner {
 public:
  // Sets `begun`, unless it is null, when the first task begins. `concurrency` is what the executor said when it was
  // asked; 0 asks it each time.
  TaskRunner(Executor& executor, const CancelledTest* cancelled = nullptr, std::atomic<bool>* begun = nullptr,
             int concurrency = 0)
      : executor_(executor),
        cancelled_(cancelled != nullptr && *cancelled ? cancelled : nullptr),
        begun_(begun),
        concurrency_(concurrency) {}

  int concurrency() const { return concurrency_ > 0 ? concurrency_ : std::max(1, executor_.concurrency()); }
  std::int64_t least_work() const;
  bool can_be_cancelled() const { return cancelled_ != nullptr; }

  // Throws a StatusException (Cancelled) if the operation was cancelled.
  void throw_if_cancelled() const;

  // The same for a loop over many small steps. Checks only at some steps, since a check costs more than a step.
  void throw_if_cancelled_at(std::int64_t step) const {
    if (step % kStepsBetween == 0) throw_if_cancelled();
  }

  // Calls body(0), ..., body(count - 1), each once, in any order, on any threads. After a cancellation or an exception,
  // the remaining bodies are skipped, and this throws a StatusException (Cancelled) or the body's exception. After an
  // Internal error of the executor all bodies have run.
  template <class Body>
  void run(std::int64_t count, const Body& body) const {
    if (count == 1) {
      note_begun();
      return body(0);
    }
    if (count > 1) run_many(count, std::cref(body));
  }

  // Marks work without tasks as begun.
  void note_begun() const {
    if (begun_ != nullptr) begun_->store(true, std::memory_order_relaxed);
  }

 private:
  static constexpr std::int64_t kStepsBetween = 1024;

  void run_many(std::int64_t count, const std::function<void(std::int64_t)>& body) const;

  Executor& executor_;
  const CancelledTest* cancelled_;  // null if the call cannot be cancelled
  std::atomic<bool>* begun_;
  int concurrency_;
};

}  // namespace backslice
