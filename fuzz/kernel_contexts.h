// Ways to run a kernel: on some threads, with any SIMD target of the machine, with any stores, and in any number of
// pieces.
#pragma once

#include "fuzz/input.h"
#include "kernels/cpu/kernel_context.h"
#include "kernels/cpu/targets.h"

namespace backslice::fuzz {

inline KernelContext any_kernel_context(Input& in) {
  const Stores stores = in.flag() ? Stores::Streaming : Stores::Ordinary;
  return {*in.pick(available_targets()).rows, stores, in.within(1, 20), in.executor(), pool_allocator()};
}

}  // namespace backslice::fuzz
