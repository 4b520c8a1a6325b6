// The gradient of a ragged tensor that was encoded row by row, from dense segments in the caller's memory. It does what
// ragged_tensor_to_variant_gradient_into does, without an object per segment.
#pragma once

#include <span>
#include <vector>

#include "backslice/variant_array.h"

namespace backslice {

// A missing piece has no shape and no dtype, only the mark that it is missing.
Status ragged_pieces_gradient_into(std::span<const VariantArray::Piece> pieces, const std::vector<Tensor>& row_splits,
                                   Ints dense_values_shape, const View& out, Write write, const Context& context);

}  // namespace backslice
