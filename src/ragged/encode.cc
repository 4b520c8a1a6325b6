// Encodes ragged tensors as arrays of variants. The gradient of decoding is the same operation. Nothing is copied.
#include "backslice/ragged_variant.h"
#include "core/errors.h"
#include "ragged/ragged_parts.h"

namespace backslice {

namespace {

Status check_is_encodable(const RaggedTensor& rt, const char* argument) {
  if (rt.values().shape().rank() > 0) return Status();
  return invalid_argument(argument, " is a scalar, which has no rows to encode").at(argument);
}

}  // namespace

Result<VariantArray> ragged_tensor_to_variant(const RaggedTensor& rt, bool batched_input) {
  return without_throwing([&]() -> Result<VariantArray> {
    if (!batched_input) return VariantArray::make({rt}, {});
    BACKSLICE_RETURN_IF_ERROR(check_is_encodable(rt, "rt"));
    return VariantArray::rows_of(rt);
  });
}

namespace {

// Returns the rows of `decoded` as an array of that shape.
Result<VariantArray> in_shape(const RaggedTensor& decoded, Ints encoded_shape) {
  BACKSLICE_RETURN_IF_ERROR(check_is_encodable(decoded, "decoded"));
  const auto shape = Shape::make(encoded_shape, "encoded_shape");
  if (!shape.ok()) return shape.status();
  if (shape->elements() != decoded.rows()) {
    return invalid_argument("encoded_shape ", encoded_shape, " has ", counted(shape->elements(), "element", "elements"),
                            ", but decoded has ", counted(decoded.rows(), "row", "rows"), " to be elements")
        .at("encoded_shape");
  }
  return VariantParts::reshaped(VariantArray::rows_of(decoded), *shape);
}

}  // namespace

Result<VariantArray> ragged_tensor_from_variant_gradient(const RaggedTensor& decoded, Ints encoded_shape) {
  return without_throwing([&]() -> Result<VariantArray> {
    const auto d = static_cast<int>(encoded_shape.size());
    if (d == 0) return ragged_tensor_to_variant(decoded, false);
    if (d > 1 && decoded.ragged_rank() < d - 1) {
      return invalid_argument("encoded_shape ", encoded_shape, " has ", counted(d, "axis", "axes"),
                              ", but decoded has ragged rank ", decoded.ragged_rank())
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
