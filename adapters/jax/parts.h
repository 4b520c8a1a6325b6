// The positions of the dy's in the arguments of a call, as the attribute `parts` lists them: one list of integers. Per
// argument
//
//     n >= 0          it holds the dy's of the next n slices, one after the other
//     -n, then n of   (number of the slice, offset, stride[result rank]), in elements: it holds these, each anywhere
//
// python/backslice/jax/selections.py writes it.
#pragma once

#include <span>
#include <vector>

#include "backslice/slice_gradient.h"

namespace backslice::jax {

/// Returns the slices with their dy's. Ends the operation (core/boundary.h) for an invalid list, for dy's outside their
/// argument, and unless every slice has exactly one dy.
std::vector<SliceGradient> gradients_of(std::vector<Selection> slices, std::span<const ConstView> arguments,
                                        Ints parts);

}  // namespace backslice::jax
