// The reference kernels: the plan's loops as they stand, an item at a time.
//
// They are what every faster kernel is tested against, so they have no cleverness to test. Preconditions of all: the
// plan was made for these tensors, and destination and source do not overlap. `dst` and `src` point to the first
// element of each tensor; no alignment is assumed, except for strings.
#pragma once

#include <cstddef>

#include "backslice/dtype.h"
#include "plan/plan.h"

namespace backslice::reference {

// Writes every item of the destination once: from the source where the plan takes one, zero elsewhere.
// The plan may be widened, except for DType::String.
void overwrite(const Plan& plan, DType dtype, std::byte* dst, const std::byte* src);

// Adds the source to the destination. The plan takes every item and is not widened. Precondition: can_add(dtype).
void accumulate(const Plan& plan, DType dtype, std::byte* dst, const std::byte* src);

}  // namespace backslice::reference
