// Call: one call of an operation, with the defaults of its Context filled in. The only place where globals are read.
#pragma once

#include <atomic>
#include <optional>

#include "backslice/context.h"
#include "backslice/tensor.h"
#include "kernels/cpu/kernel_context.h"
#include "kernels/cuda/memory.h"

namespace backslice {

// The row kernels in use; null until a Call has found the environment valid. For work that takes less time than the
// construction of a Call. Exported for the Python bindings.
BACKSLICE_EXPORT const RowKernels* ready_rows() noexcept;

struct Call {
  // Throws a StatusException while a BACKSLICE_ environment variable that the call needs has an invalid value, or if
  // the Context's allocator belongs to another device than `on`, where the arguments are, or to another stream.
  explicit Call(const Context& context, Device on = {});
  Call(const Call&) = delete;

  int threads() const { return tasks.concurrency(); }

  // Returns how a kernel is to run a schedule, or work that writes so many bytes and takes as long as copying
  // work_per_byte times as many. Checks for cancellation if kernels with one piece have done enough work since the last
  // check.
  KernelContext kernel(const ExecutionPolicy& policy) const {
    const bool is_small = policy.work < kLeastParallelBytes;  // then the number of threads does not matter
    const std::int64_t pieces = is_small ? 1 : policy.pieces(tasks, tasks.least_work());
    if (tasks.can_be_cancelled()) ask_after(policy.work, pieces);
    return {rows, policy.stores, pieces, tasks, allocator};
  }
  KernelContext kernel(std::int64_t bytes, std::int64_t work_per_byte = 1) const {
    return kernel(policy_for(bytes, work_per_byte));
  }

  // Contiguous, from the caller's allocator.
  Result<Tensor> allocate(DType dtype, const Shape& shape, std::int64_t item_size,
                          Contents contents = Contents::Uninitialised) const {
    return Tensor::make(dtype, shape, item_size, contents, allocator);
  }

  FreeZeros free_zeros() const {
    if (&allocator == &pool_allocator()) return FreeZeros::InAnyPages;
    return allocator.has_free_zeros() ? FreeZeros::AsTouched : FreeZeros::None;
  }

  // Allocates a result for this policy.
  Result<Tensor> allocate_for(const ExecutionPolicy& policy, DType dtype, const Shape& shape,
                              std::int64_t item_size) const;

  // The stream for kernels, and how they run on it. Precondition: the arguments are on CUDA.
  cuda::DeviceStream queue() const { return {device.ordinal, stream}; }
  KernelContext device_kernel() const { return {rows, Stores::Ordinary, 1, tasks, allocator, queue()}; }

  // Runs `body`, which writes the caller's memory. Exceptions become a StatusException that says whether writing had
  // begun.
  template <class Body>
  void writing(const Body& body) const {
    begun_.store(false, std::memory_order_relaxed);
    try {
      body();
    } catch (...) {
      throw_as_written();
    }
  }

  Device device;      // where the arguments are
  CudaStream stream;  // for arguments on CUDA

 private:
  CancelledTest stop_;  // asks both tests of a Context that has a std::stop_token

 public:
  TaskRunner tasks;

 private:
  [[noreturn]] void throw_as_written() const;
  void ask_after(std::int64_t work, std::int64_t pieces) const;

  mutable std::atomic<std::int64_t> unasked_work_ = 0;
  mutable std::atomic<bool> begun_ = false;             // a task, since writing() began
  std::optional<cuda::StreamAllocator> own_allocator_;  // on CUDA, where the caller gives none

 public:
  Allocator& allocator;
  const RowKernels& rows;
};

}  // namespace backslice
