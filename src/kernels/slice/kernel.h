// The slice kernels: a plan run with SIMD rows, in parallel.
//
// They do what the reference kernels do, bit for bit, and have the same preconditions.
#pragma once

#include <cstddef>
#include <optional>

#include "backslice/dtype.h"
#include "kernels/cpu/kernel_context.h"
#include "plan/plan.h"

namespace backslice {

// Writes every item of the destination once: from the source where the plan takes one, zero elsewhere.
void fill(const Plan& plan, DType dtype, std::byte* dst, const std::byte* src, const KernelContext& context);

// A fill of a few kilobytes that is one call of a row kernel, with zeros around it: without loops, pieces and tasks,
// which would take longer than the bytes.
struct SmallFill {
  std::int64_t src_offset;
  std::int64_t before, after;  // bytes of zeros
  ShortRows rows;
};

// Nothing where the plan is none. Precondition: its items are bytes.
std::optional<SmallFill> small_fill(const Plan& plan);

// The same as fill() of the plan that it was made from.
void fill_small(const SmallFill& small, std::byte* dst, const std::byte* src, const RowKernels& rows);

// Adds the source to the destination. The plan takes every item and is not widened. Precondition: can_add(dtype).
void add(const Plan& plan, DType dtype, std::byte* dst, const std::byte* src, const KernelContext& context);

}  // namespace backslice
