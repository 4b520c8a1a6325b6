// Encodes ragged tensors as arrays of variants. The gradient of decoding is the same operation. Nothing is copied.
#include "backslice/ragged_variant.h"
#include "core/errors.h"
#include "ragged/ragged_parts.h"

namespace backslice {

Result<VariantArray> ragged_tensor_to_variant(const RaggedTensor& rt, bool batched_input) {
  return without_throwing([&]() -> Result<VariantArray> {
    if (!batched_input) return VariantArray::make({rt}, {});
    if (rt.values().shape().rank() == 0)
      return invalid_argument("rt is a scalar, which has no rows to encode").at("rt");
    return VariantArray::rows_of(rt);
  });
}

namespace {

// Returns the rows of `decoded` as an array of that shape. Errors name the arguments of the gradient.
Result<VariantArray> in_shape(const RaggedTensor& decoded, Ints encoded_shape) {
  const auto rows = ragged_tensor_to_variant(decoded, true);
  if (!rows.ok()) return renamed(rows.status(), "rt", "decoded");
  auto made = rows->reshape(encoded_shape);
  if (!made.ok()) return renamed(std::move(made).status(), "shape", "encoded_shape");
  return made;
}

}  // namespace

Result<VariantArray> ragged_tensor_from_variant_gradient(const RaggedTensor& decoded, Ints encoded_shape) {
  return without_throwing([&]() -> Result<VariantArray> {
    const auto d = static_cast<int>(encoded_shape.size());
    if (d == 0) return ragged_tensor_to_variant(decoded, false);
    if (d > 1 && decoded.ragged_rank() < d - 1) {
      return invalid_argument("encoded_shape ", encoded_shape, " has ", counted(d, "axis", "axes"),
                              ", but what was decoded has ragged rank ", decoded.ragged_rank())
          .at("encoded_shape");
    }
    if (decoded.ragged_rank() == 0 || d == 1)
      return in_shape(decoded, encoded_shape);  // the rows of a dense stack, too
    // The array's own axes but the last are splits of one length, and are no longer needed.
    std::vector<Tensor> splits(decoded.nested_row_splits().begin() + (d - 1), decoded.nested_row_splits().end());
    return in_shape(RaggedParts::join(decoded.values(), std::move(splits)), encoded_shape);
  });
}

}  // namespace backslice
