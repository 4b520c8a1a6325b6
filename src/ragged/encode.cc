// Encodes ragged tensors as arrays of variants. The gradient of decoding is the same operation. Nothing is copied.
#include "backslice/ragged_variant.h"
#include "core/errors.h"
#include "ragged/ragged_parts.h"

namespace backslice {

Result<VariantArray> ragged_tensor_to_variant(const RaggedTensor& rt, bool batched_input) {
  return without_throwing([&]() -> Result<VariantArray> {
    if (!batched_input) return VariantArray::make({rt}, {});
    if (rt.values().shape().rank() == 0) return invalid_argument("Can't unbatch rank-0 tensor.");
    return VariantArray::rows_of(rt);
  });
}

Result<VariantArray> ragged_tensor_from_variant_gradient(const RaggedTensor& decoded, Ints encoded_shape) {
  return without_throwing([&]() -> Result<VariantArray> {
    const auto d = static_cast<int>(encoded_shape.size());
    if (d == 0) return ragged_tensor_to_variant(decoded, false);
    if (d > 1 && decoded.ragged_rank() < d - 1) {
      return invalid_argument("encoded_shape ", encoded_shape, " has ", counted(d, "axis", "axes"),
                              ", but what was decoded has ragged rank ", decoded.ragged_rank())
          .at("encoded_shape");
    }
    if (decoded.ragged_rank() == 0 || d == 1) {  // all rows, including the rows of a dense stack
      auto rows = ragged_tensor_to_variant(decoded, true);
      if (!rows.ok()) return rows;
      return rows->reshape(encoded_shape);
    }
    // The array's own axes but the last are splits of one length, and are no longer needed.
    std::vector<Tensor> splits(decoded.nested_row_splits().begin() + (d - 1), decoded.nested_row_splits().end());
    auto rows = ragged_tensor_to_variant(RaggedParts::join(decoded.values(), std::move(splits)), true);
    if (!rows.ok()) return rows;
    return rows->reshape(encoded_shape);
  });
}

}  // namespace backslice
