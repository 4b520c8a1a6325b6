// Kernels come in variants, which are listed best first: dispatch takes the first that can run, tests and benchmarks
// walk them all.
#pragma once

#include <iterator>

#include "kernels/cuda/portable.h"

namespace backslice::cuda {

// What with_width_and_count compiles kernels for, best first: those that know how many loops there are, then those that
// take any number.
inline constexpr int kWidths[] = {16, 8, 4, 2, 1};
inline constexpr int kCounts[] = {1, 2, 3, 0};

// The first of a list that can run; there always is one.
template <class Variants, class... Work>
const auto& first_that_can_run(const Variants& variants, const Work&... work) {
  auto variant = std::begin(variants);
  while (!variant->can_run(work...)) ++variant;
  return *variant;
}

}  // namespace backslice::cuda
