// Slices of the first input of an op, as outputs.
#pragma once

#include <span>

#include "backslice/selection.h"
#include "call.h"

namespace backslice::tensorflow {

/// Makes slices of input 0, whose elements `x` is, the outputs of an op. Consecutive rows share its memory where
/// TensorFlow's own StridedSlice would share it too, so that no slice keeps more memory alive than with TensorFlow.
Status set_slices(Call& call, std::span<const Selection> selections, const ConstView& x, int data_type);

}  // namespace backslice::tensorflow
