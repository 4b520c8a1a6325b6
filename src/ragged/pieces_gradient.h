// The gradient of a ragged tensor that was encoded row by row, from pieces that are dense and lie in memory of the
// caller's: as ragged_tensor_to_variant_gradient_into, without an object per piece.
#pragma once

#include <span>
#include <vector>

#include "backslice/variant_array.h"

namespace backslice {

// A piece that is missing says nothing but that.
Status ragged_pieces_gradient_into(std::span<const VariantArray::Piece> pieces, const std::vector<Tensor>& row_splits,
                                   Ints dense_values_shape, const View& out, Write write, const Context& context);

}  // namespace backslice
