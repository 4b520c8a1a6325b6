#include "ops/call.h"

#include <atomic>

#include "core/errors.h"
#include "execute/environment.h"
#include "kernels/cpu/targets.h"

namespace backslice {
namespace {

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

}  // namespace

Call::Call(const Context& context)
    : tasks(executor_of(context), context.cancelled),
      allocator(context.allocator != nullptr ? *context.allocator : pool_allocator()),
      rows(*active_target().rows) {}

}  // namespace backslice
