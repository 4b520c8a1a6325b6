// A context of C's for the time of one call: its callbacks as an Executor, an Allocator and a CancelledTest.
#pragma once

#include <optional>

#include "backslice/context.h"
#include "capi/executor.h"

namespace backslice::capi {

class CallbackAllocator final : public Allocator {
 public:
  explicit CallbackAllocator(const backslice_allocator& callbacks) : callbacks_(callbacks) {}
  Result<Buffer> allocate(std::int64_t bytes, Contents contents) override;
  bool has_free_zeros() const override { return callbacks_.has_free_zeros != 0; }

 private:
  backslice_allocator callbacks_;
};

class CallContext {
 public:
  // NULL means the defaults.
  explicit CallContext(const backslice_context* context) {
    if (context != nullptr) [[unlikely]]
      take(*context);
  }
  CallContext(const CallContext&) = delete;

  operator const Context&() const { return context_; }

  // How the operation ended: an executor that failed matters more than what became of the operation.
  Status ended(Status&& status) const { return executor_ ? executor_->ended(std::move(status)) : std::move(status); }

  // The value of a result.
  template <class T>
  T value(Result<T>&& result) const {
    if (executor_) {
      if (Status failed = executor_->ended(Status()); !failed.ok()) refuse(std::move(failed));
    }
    return unwrap(std::move(result));
  }

 private:
  void take(const backslice_context& context);

  Context context_;
  std::optional<CallbackExecutor> executor_;
  std::optional<CallbackAllocator> allocator_;
  CancelledTest cancelled_;
};

}  // namespace backslice::capi
