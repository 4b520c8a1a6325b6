// The threads of a session as an Executor, for the time of one run of a kernel.
#pragma once

#include <atomic>

#include "api.h"
#include "backslice/executor.h"

namespace backslice::onnxruntime {

/// Whether the threads of a session help with little work in time. They do while they look out for it, as they do for a
/// while after each run; those that sleep, and in some sessions all do, take longer to come than little work takes.
/// What was seen at earlier runs of a kernel tells which: threads that came too late are awake at the next run, so that
/// only after the second time in a row they are left alone for some runs.
class PromptHelp {
 public:
  /// Whether to ask for it this time.
  bool is_likely() {
    const int left = runs_without_.load(std::memory_order_relaxed);
    if (left > 0) runs_without_.store(left - 1, std::memory_order_relaxed);
    return left == 0;
  }

  void note(bool came) {
    if (!came && has_missed_.load(std::memory_order_relaxed)) {
      runs_without_.store(kRunsWithout, std::memory_order_relaxed);
      came = true;  // they have two tries again
    }
    has_missed_.store(!came, std::memory_order_relaxed);
  }

 private:
  static constexpr int kRunsWithout = 128;

  // Several threads may run a kernel at once.
  std::atomic<int> runs_without_ = 0;
  std::atomic<bool> has_missed_ = false;  // at the last run that asked
};

/// Loops run on the threads of the session, and on no others. A session of one thread has none but the caller.
class SessionThreads : public Executor {
 public:
  SessionThreads(const Api& api, const OrtKernelContext* context, PromptHelp& help)
      : api_(api), context_(context), help_(help) {}

  /// ONNX Runtime does not tell how many there are: as many as backslice would use itself, at most.
  int concurrency() const override { return num_threads(); }
  std::int64_t least_work() const override;
  void run(std::int64_t count, const std::function<void(std::int64_t)>& task) override;

 private:
  Api api_;
  const OrtKernelContext* context_;
  PromptHelp& help_;
};

}  // namespace backslice::onnxruntime
