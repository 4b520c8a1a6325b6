// Results in memory that the system has yet to provide: XLA allocates large ones afresh in every call.
#pragma once

#include "backslice/context.h"
#include "backslice/view.h"

namespace backslice::jax {

/// Asks for huge pages where a large result will be written. Writing one is mostly page faults, and those of 4 KiB take
/// longer than the kernel does.
void expect_writes(const View& result);

/// How the gradient of slices is to be written into a result: where the system has yet to provide its memory, that is
/// zero already, and what no slice takes is never touched.
Write write_of_gradient(const View& result);

}  // namespace backslice::jax
