#include "ops/call.h"

#include <atomic>

#include "core/errors.h"
#include "execute/environment.h"
#include "kernels/cpu/targets.h"

namespace backslice {
namespace {

std::atomic<const RowKernels*> ready = nullptr;

// Written once: many threads read it.
const RowKernels& noted(const RowKernels& rows) {
  if (ready.load(std::memory_order_relaxed) == nullptr) ready.store(&rows, std::memory_order_release);
  return rows;
}

Status check_environment() {
  BACKSLICE_RETURN_IF_ERROR(check_num_threads_variable());
  return check_target_variable();
}

void throw_if_environment_is_wrong() {
  static const Status environment = check_environment();
  static std::atomic<bool> told = environment.ok();
  if (!told.load(std::memory_order_relaxed) && !told.exchange(true)) throw StatusException(environment);
}

Executor& executor_of(const Context& context) {
  throw_if_environment_is_wrong();
  return context.executor != nullptr ? *context.executor : default_executor();
}

// Memory that is given back in the order of one stream may be somebody else's while another stream still uses it.
Allocator& checked(Allocator& allocator, const Context& context, Device on) {
  if (allocator.device() != on) {
    throw StatusException(invalid_argument("the context's allocator gives memory on ", to_string(allocator.device()),
                                           ", but the arguments are on ", to_string(on)));
  }
  const auto* in_order = on.is_cpu() ? nullptr : dynamic_cast<const cuda::StreamAllocator*>(&allocator);
  if (in_order != nullptr && !in_order->is_on(context.stream)) {
    throw StatusException(
        invalid_argument("the context's allocator works in the order of another stream than the context's"));
  }
  return allocator;
}

std::optional<cuda::StreamAllocator> own_allocator(const Context& context, Device on) {
  if (on.is_cpu() || context.allocator != nullptr) return std::nullopt;
  return cuda::StreamAllocator({on.ordinal, context.stream});
}

Allocator& allocator_of(const Context& context, std::optional<cuda::StreamAllocator>& own, Device on) {
  if (context.allocator != nullptr) return checked(*context.allocator, context, on);
  return own ? static_cast<Allocator&>(*own) : pool_allocator();
}

}  // namespace

Call::Call(const Context& context, Device on)
    : device(on),
      stream(context.stream),
      tasks(executor_of(context), context.cancelled),
      own_allocator_(own_allocator(context, on)),
      allocator(allocator_of(context, own_allocator_, on)),
      rows(noted(*active_target().rows)) {}

const RowKernels* ready_rows() noexcept { return ready.load(std::memory_order_acquire); }

}  // namespace backslice
