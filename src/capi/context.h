// A context from C during one call: its callbacks as an Executor, an Allocator and a CancelledTest.
#pragma once

#include <optional>

#include "backslice/context.h"
#include "capi/executor.h"
#include "kernels/cuda/memory.h"

namespace backslice::capi {

class CallbackAllocator final : public Allocator {
 public:
  CallbackAllocator(const backslice_allocator& callbacks, Device device) : callbacks_(callbacks), device_(device) {}
  Result<Buffer> allocate(std::int64_t bytes, Contents contents) override;
  bool has_free_zeros() const override { return callbacks_.has_free_zeros != 0; }
  Device device() const override { return device_; }

 private:
  backslice_allocator callbacks_;
  Device device_;
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

  // The device of memory that no argument determines.
  Device device() const { return context_.allocator == nullptr ? Device() : context_.allocator->device(); }

 private:
  void take(const backslice_context& context);

  Context context_;
  std::optional<CallbackExecutor> executor_;
  std::optional<CallbackAllocator> allocator_;
  std::optional<cuda::StreamAllocator> device_allocator_;
  CancelledTest cancelled_;
};

}  // namespace backslice::capi
