// How a kernel may be asked to run: on some threads, with any SIMD target that the machine has, with any stores.
#pragma once

#include "fuzz/input.h"
#include "kernels/slice/fill.h"

namespace backslice::fuzz {

inline FillOptions any_fill_options(Input& in) {
  constexpr Stores kStores[] = {Stores::Auto, Stores::Ordinary, Stores::Streaming};
  return {.runner = in.executor(), .rows = *in.pick(available_targets()).rows, .stores = in.pick(kStores)};
}

}  // namespace backslice::fuzz
