// SliceGradient: one of many slices of a tensor, with the gradient that belongs to it (multi_slice.h).
#pragma once

#include "backslice/selection.h"
#include "backslice/view.h"

namespace backslice {

struct SliceGradient {
  Selection selection;
  ConstView dy;  // of selection.result_shape()
};

}  // namespace backslice
