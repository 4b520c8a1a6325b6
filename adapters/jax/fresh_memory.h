// Results in memory that the system has not provided yet: XLA allocates large ones afresh in every call.
#pragma once

#include <span>

#include "backslice/context.h"
#include "backslice/slice_gradient.h"

namespace backslice::jax {

/// Requests huge pages for a large result. Writing one is mostly page faults, and those of 4 KiB take longer than the
/// kernel.
void expect_writes(const View& result);

/// Chooses how the gradients of slices are written into a result. Memory that the system has not provided yet is zero
/// already, so the gaps are not touched. If slices select scattered elements, zeros are written between them, since
/// that is faster than skipping.
Write write_of_gradients(std::span<const SliceGradient> slices, const View& result);

}  // namespace backslice::jax
