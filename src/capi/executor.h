// An executor of C's. It may fail where those of C++ may not: run no task, leave some out, run one twice.
//
// Containers count on what they have begun being finished, so what the callback leaves out is done here, on the calling
// thread. Operations that can be cancelled end instead: from the failure on, has_failed() is what cancels them.
#pragma once

#include <atomic>

#include "backslice/executor.h"
#include "capi/arguments.h"

namespace backslice::capi {

class CallbackExecutor final : public Executor {
 public:
  explicit CallbackExecutor(const backslice_executor& callbacks) : callbacks_(callbacks) {}

  int concurrency() const override { return callbacks_.concurrency; }
  void run(std::int64_t count, const std::function<void(std::int64_t)>& task) override;

  bool has_failed() const { return failure_.load(std::memory_order_relaxed) != Failure::None; }

  // How the operation ended that was to end so.
  Status ended(Status status) const;

 private:
  enum class Failure { None, Code, LeftOut, Strange };

  void fail(Failure failure, std::int32_t code = 0);

  backslice_executor callbacks_;
  std::atomic<Failure> failure_ = Failure::None;
  std::atomic<std::int32_t> code_ = 0;
};

}  // namespace backslice::capi
