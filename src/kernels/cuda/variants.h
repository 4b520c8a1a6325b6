// Kernels come in variants, which are listed best first: dispatch takes the first that can run, tests and benchmarks
// walk them all.
#pragma once

#include <algorithm>
#include <iterator>

namespace backslice::cuda {

// What with_width_and_count compiles kernels for, best first: those that know how many loops there are, then those that
// take any number.
inline constexpr int kWidths[] = {16, 8, 4, 2, 1};
inline constexpr int kCounts[] = {1, 2, 3, 0};

// The first of a list that will do; there always is one.
template <class Variants, class Predicate>
const auto& first_of(const Variants& variants, const Predicate& will_do) {
  return *std::find_if(std::begin(variants), std::end(variants), will_do);
}

}  // namespace backslice::cuda
