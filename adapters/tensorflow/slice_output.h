// Slices of the first input of an op, as outputs.
#pragma once

#include "backslice/selection.h"
#include "call.h"

namespace backslice::tensorflow {

/// Makes a slice of input 0, whose elements `x` is, an output. Consecutive rows of it share its memory where
/// TensorFlow's own StridedSlice would share it too, so that no slice keeps more memory alive than with TensorFlow.
Status set_slice(Call& call, int output, const Selection& selection, const ConstView& x, int data_type);

}  // namespace backslice::tensorflow
