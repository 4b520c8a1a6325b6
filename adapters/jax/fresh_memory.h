// Results in memory that the system has yet to provide: XLA allocates large ones afresh in every call.
#pragma once

#include <span>

#include "backslice/context.h"
#include "backslice/slice_gradient.h"

namespace backslice::jax {

/// Asks for huge pages where a large result will be written. Writing one is mostly page faults, and those of 4 KiB take
/// longer than the kernel does.
void expect_writes(const View& result);

/// How the gradients of slices are to be written into a result. Where the system has yet to provide its memory, that is
/// zero already, and what no slice takes is never touched; unless slices take scattered elements, between which zeros
/// are written faster than they are skipped.
Write write_of_gradients(std::span<const SliceGradient> slices, const View& result);

}  // namespace backslice::jax
