// KernelContext: how a kernel is to run. It has all that a kernel needs besides its work: no kernel asks a global.
#pragma once

#include "execute/task_runner.h"
#include "kernels/cpu/rows.h"
#include "plan/schedule.h"

namespace backslice {

struct KernelContext {
  const RowKernels& rows;  // of one SIMD target
  Stores stores;           // how the destination is written
  std::int64_t pieces;     // into how many the work is cut, at most
  TaskRunner tasks;        // where pieces run
  Allocator& allocator;    // of memory that the kernel needs for itself
};

}  // namespace backslice
