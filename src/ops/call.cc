#include "ops/call.h"

#include <atomic>

#include "core/errors.h"
#include "execute/environment.h"
#include "kernels/cpu/targets.h"
#include "memory/block.h"

namespace backslice {
namespace {

std::atomic<const RowKernels*> ready = nullptr;

// Written once, since many threads read it.
const RowKernels& noted(const RowKernels& rows) {
  if (ready.load(std::memory_order_relaxed) == nullptr) ready.store(&rows, std::memory_order_release);
  return rows;
}

// Checks an environment variable in every call that needs it, until it is valid.
template <auto check>
void throw_if_wrong() {
  static std::atomic<bool> is_right = false;
  if (is_right.load(std::memory_order_acquire)) [[likely]]
    return;
  if (Status wrong = check(); !wrong.ok()) throw StatusException(std::move(wrong));
  is_right.store(true, std::memory_order_release);
}

int checked_concurrency(const Executor& executor) {
  const int threads = calling("context.executor->concurrency", [&] { return executor.concurrency(); });
  if (threads >= 1) return threads;
  throw StatusException(
      invalid_argument("context.executor->concurrency() is ", threads, ", expected 1 or more").at("context.executor"));
}

// A user's executor is asked once for its threads: later answers may differ.
TaskRunner runner_of(const Context& context, const CancelledTest* cancelled, std::atomic<bool>* begun) {
  throw_if_wrong<check_target_variable>();
  if (context.executor != nullptr) {
    return TaskRunner(*context.executor, cancelled, begun, checked_concurrency(*context.executor));
  }
  throw_if_wrong<settle_num_threads>();
  return TaskRunner(default_executor(), cancelled, begun);
}

// Empty if the context has no std::stop_token.
CancelledTest stop_test_of([[maybe_unused]] const Context& context) {
#ifdef __cpp_lib_jthread
  if (context.stop.stop_possible()) {
    return [&context] {
      const CancelledTest* test = context.cancelled;
      return context.stop.stop_requested() || (test != nullptr && *test && (*test)());
    };
  }
#endif
  return nullptr;
}

// Memory that is freed in the order of one stream may be reused while another stream still uses it.
Allocator& checked(Allocator& allocator, const Context& context, Device on) {
  if (allocator.device() != on) {
    throw StatusException(invalid_argument("the context's allocator gives memory on ", to_string(allocator.device()),
                                           ", but the arguments are on ", to_string(on))
                              .at("context"));
  }
  const auto* in_order = on.is_cpu() ? nullptr : dynamic_cast<const cuda::StreamAllocator*>(&allocator);
  if (in_order != nullptr && !in_order->is_on(context.stream)) {
    throw StatusException(
        invalid_argument("the context's allocator works in the order of another stream than the context's")
            .at("context"));
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
      stop_(stop_test_of(context)),
      tasks(runner_of(context, stop_ ? &stop_ : context.cancelled, &begun_)),
      own_allocator_(own_allocator(context, on)),
      allocator(allocator_of(context, own_allocator_, on)),
      rows(noted(*active_target().rows)) {}

Result<Tensor> Call::allocate_for(const ExecutionPolicy& policy, DType dtype, const Shape& shape,
                                  std::int64_t item_size) const {
  const bool is_fresh = policy.strategy == Strategy::FreshZeros;
  auto made = allocate(dtype, shape, item_size, is_fresh ? Contents::Zero : Contents::Uninitialised);
  if (made.ok() && policy.in_huge_pages) {
    ask_for_huge_pages(made->view().data, shape.elements() * item_size);
  }
  return made;
}

// Work in pieces checks before each piece.
void Call::ask_after(std::int64_t work, std::int64_t pieces) const {
  const std::int64_t unasked = pieces > 1 ? 0 : unasked_work_.load(std::memory_order_relaxed) + work;
  const bool is_enough = unasked >= kLargestCancellablePiece;
  unasked_work_.store(is_enough ? 0 : unasked, std::memory_order_relaxed);
  if (is_enough) tasks.throw_if_cancelled();
}

void Call::throw_as_written() const {
  if (!begun_.load(std::memory_order_relaxed)) throw;
  throw StatusException(status_of_current_exception().with_output_written());
}

const RowKernels* ready_rows() noexcept { return ready.load(std::memory_order_acquire); }

}  // namespace backslice
