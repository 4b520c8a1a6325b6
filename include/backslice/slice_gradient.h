/// @file
/// SliceGradient: one of many slices of a tensor, with the gradient that belongs to it (multi_slice.h).
#pragma once

#include "backslice/selection.h"
#include "backslice/view.h"

namespace backslice {

/// A slice and its gradient.
struct SliceGradient {
  Selection selection;
  ConstView dy;  ///< Of selection.result_shape().
};

}  // namespace backslice
