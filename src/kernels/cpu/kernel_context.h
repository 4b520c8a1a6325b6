// KernelContext: how a kernel is to run. It has all that a kernel needs besides its work: no kernel asks a global.
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
  cuda::DeviceStream queue = {};  // where it is queued on a CUDA device, which uses only this and the allocator
};

// Room for `count` items that a kernel needs for itself, uninitialised, aligned as tensors are. Throws where there is
// none.
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
