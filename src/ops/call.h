// Call: one call of an operation, with the defaults of its Context filled in. The only place where globals are read.
#pragma once

#include "backslice/context.h"
#include "backslice/tensor.h"
#include "kernels/cpu/kernel_context.h"
#include "plan/cut.h"

namespace backslice {

struct Call {
  // The first call of all throws a StatusException when a BACKSLICE_ environment variable has an invalid value;
  // later ones go on without it.
  explicit Call(const Context& context);

  int threads() const { return tasks.concurrency(); }

  // How a kernel is to run a schedule, or work that writes so many bytes and takes as long as
  // copying work_per_byte times as many.
  KernelContext kernel(const Manner& manner) const {
    return {rows, manner.stores, manner.pieces(threads()), tasks, allocator};
  }
  KernelContext kernel(std::int64_t bytes, std::int64_t work_per_byte = 1) const {
    return kernel(manner_of(bytes, work_per_byte));
  }

  // Contiguous, from the caller's allocator.
  Result<Tensor> allocate(DType dtype, const Shape& shape, std::int64_t item_size,
                          Contents contents = Contents::Uninitialised) const {
    return Tensor::make(dtype, shape, item_size, contents, allocator);
  }

  TaskRunner tasks;
  Allocator& allocator;
  const RowKernels& rows;
};

}  // namespace backslice
