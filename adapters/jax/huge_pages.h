// Results in memory that the system has yet to provide.
#pragma once

#include "backslice/view.h"

namespace backslice::jax {

/// Asks for huge pages where a large result will be written. XLA allocates results afresh, so that writing one is
/// mostly page faults, and those of 4 KiB take longer than the kernel does.
void expect_writes(const View& result);

}  // namespace backslice::jax
