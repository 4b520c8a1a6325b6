// The fast kernels: a plan run with SIMD rows, in parallel.
//
// They do what the reference kernels do, bit for bit, and have the same preconditions.
#pragma once

#include <cstddef>

#include "backslice/dtype.h"
#include "backslice/plan.h"
#include "execute/task_runner.h"
#include "kernels/cpu/rows.h"

namespace backslice {

// How a destination is written.
enum class Stores {
  Auto,  // past the caches where it is larger than they are
  Ordinary,
  Streaming,
};

struct FillOptions {
  TaskRunner runner;
  const RowKernels& rows = *active_target().rows;
  Stores stores = Stores::Auto;
};

// Strings are objects, not bytes, so that a run of them is not a longer item.
inline Widen widen_for(DType dtype) { return dtype == DType::String ? Widen::No : Widen::Yes; }

// Writes every item of the destination once: from the source where the plan takes one, zero elsewhere.
void fill(const Plan& plan, DType dtype, std::byte* dst, const std::byte* src, const FillOptions& options);

// Adds the source to the destination. The plan takes every item and is not widened. Precondition: can_add(dtype).
void add(const Plan& plan, DType dtype, std::byte* dst, const std::byte* src, const FillOptions& options);

}  // namespace backslice
