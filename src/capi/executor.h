// An executor from C.
#pragma once

#include "backslice/executor.h"
#include "capi/arguments.h"

namespace backslice::capi {

class CallbackExecutor final : public Executor {
 public:
  explicit CallbackExecutor(const backslice_executor& callbacks) : callbacks_(callbacks) {}

  int concurrency() const override { return callbacks_.concurrency; }
  void run(std::int64_t count, const std::function<void(std::int64_t)>& task) override;

 private:
  backslice_executor callbacks_;
};

}  // namespace backslice::capi
