// KernelContext: everything that a kernel needs besides its work. No kernel reads a global.
#pragma once

#include <new>

#include "backslice/tensor.h"
#include "core/boundary.h"
#include "core/checked_math.h"
#include "core/device.h"
#include "execute/task_runner.h"
#include "kernels/cpu/rows.h"
#include "plan/schedule.h"

namespace backslice {

struct KernelContext {
  const RowKernels& rows;         // of one SIMD target
  Stores stores;                  // how the destination is written
  std::int64_t pieces;            // into how many the work is cut, at most
  TaskRunner tasks;               // where pieces run
  Allocator& allocator;           // of memory that the kernel needs for itself
  cuda::DeviceStream queue = {};  // stream on a CUDA device, where kernels use only this and the allocator
};

// Returns uninitialised scratch memory for `count` items, aligned like tensors. Throws if there is no memory.
template <class T>
Buffer allocate_scratch(std::int64_t count, Allocator& allocator) {
  const auto bytes = checked_multiply(count, static_cast<std::int64_t>(sizeof(T)));
  if (!bytes) throw std::bad_alloc();
  const auto memory =
      Tensor::make(DType::UInt8, *Shape::make({*bytes}), 0, Contents::Uninitialised, allocator);  // checks what it got
  if (!memory.ok()) throw StatusException(memory.status());
  return memory->buffer();
}

}  // namespace backslice
