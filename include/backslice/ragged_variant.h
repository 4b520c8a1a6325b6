/// @file
/// Ragged tensors to arrays of variants and back, with gradients: TensorFlow's RaggedTensorToVariant,
/// RaggedTensorFromVariant and RaggedTensorToVariantGradient.
#pragma once

#include "backslice/variant_array.h"

namespace backslice {

/// One element per row, of one ragged rank less; with batched_input false, a scalar that holds all of it. Nothing is
/// copied: VariantArray::element_size and element_into put an element into memory that the caller owns.
BACKSLICE_EXPORT Result<VariantArray> ragged_tensor_to_variant(const RaggedTensor& rt, bool batched_input = true);

/// The dtype of values, with the size of an item where that does not follow from it.
struct ValuesType {
  ValuesType(DType type, std::int64_t bytes = kItemSizeOfDType) : dtype(type), item_size(bytes) {}
  DType dtype;
  std::int64_t item_size;  ///< Needed for DType::Bytes only.
};

/// The types that the elements must have.
struct FromVariantTypes {
  std::optional<ValuesType> values = {};  ///< Default: what the elements have.
  std::optional<DType> splits = {};       ///< Default: what the elements have, or Int64.
};

/// The elements of `encoded`, of ragged rank input_ragged_rank each (-1: output_ragged_rank less the array's rank), as
/// the rows of one ragged tensor of output_ragged_rank, which is the array's rank more. An output_ragged_rank of 0
/// stacks dense elements of one shape instead. Elements that lie next to each other are not copied.
BACKSLICE_EXPORT Result<RaggedTensor> ragged_tensor_from_variant(const VariantArray& encoded, int input_ragged_rank,
                                                                 int output_ragged_rank, const FromVariantTypes& = {},
                                                                 const Context& = {});
template <int = 0>  // here and below: so that `{}` is the argument with a default, not the Context
Result<RaggedTensor> ragged_tensor_from_variant(const VariantArray& encoded, int input_ragged_rank,
                                                int output_ragged_rank, const Context& context) {
  return ragged_tensor_from_variant(encoded, input_ragged_rank, output_ragged_rank, FromVariantTypes(), context);
}

/// The same into memory that the caller owns: how much it takes, then the splits and values. The splits may be of
/// either dtype; types.splits is what the elements must have.
BACKSLICE_EXPORT Result<RaggedSize> ragged_tensor_from_variant_size(const VariantArray& encoded, int input_ragged_rank,
                                                                    int output_ragged_rank,
                                                                    const FromVariantTypes& = {}, const Context& = {});
BACKSLICE_EXPORT Status ragged_tensor_from_variant_into(const VariantArray& encoded, int input_ragged_rank,
                                                        int output_ragged_rank, const RaggedView& out,
                                                        const FromVariantTypes& = {}, const Context& = {});
template <int = 0>
Result<RaggedSize> ragged_tensor_from_variant_size(const VariantArray& encoded, int input_ragged_rank,
                                                   int output_ragged_rank, const Context& context) {
  return ragged_tensor_from_variant_size(encoded, input_ragged_rank, output_ragged_rank, FromVariantTypes(), context);
}
template <int = 0>
Status ragged_tensor_from_variant_into(const VariantArray& encoded, int input_ragged_rank, int output_ragged_rank,
                                       const RaggedView& out, const Context& context) {
  return ragged_tensor_from_variant_into(encoded, input_ragged_rank, output_ragged_rank, out, FromVariantTypes(),
                                         context);
}

/// The gradient of ragged_tensor_from_variant: `decoded` is what it returned, with the gradient as its values; the
/// result has the shape of what was decoded.
BACKSLICE_EXPORT Result<VariantArray> ragged_tensor_from_variant_gradient(const RaggedTensor& decoded,
                                                                          Ints encoded_shape);

/// The gradient of ragged_tensor_to_variant: the pieces one after the other, as a dense tensor of that shape. A missing
/// piece i is zeros for the rows [splits[i], splits[i+1]) of the outermost list. `row_splits` are the splits that were
/// encoded: the outermost list, or all of them, which is needed to size missing pieces of ragged rank 1 and more; a
/// scalar will do when no piece is missing. Pieces that lie next to each other are not copied.
BACKSLICE_EXPORT Result<Tensor> ragged_tensor_to_variant_gradient(const VariantArray& encoded_ragged_grad,
                                                                  const std::vector<Tensor>& row_splits,
                                                                  Ints dense_values_shape,
                                                                  std::optional<ValuesType> Tvalues = {},
                                                                  const Context& = {});
template <int = 0>
Result<Tensor> ragged_tensor_to_variant_gradient(const VariantArray& encoded_ragged_grad,
                                                 const std::vector<Tensor>& row_splits, Ints dense_values_shape,
                                                 const Context& context) {
  return ragged_tensor_to_variant_gradient(encoded_ragged_grad, row_splits, dense_values_shape, std::nullopt, context);
}

/// The same into memory that the caller owns, of that shape and the dtype of the pieces.
BACKSLICE_EXPORT Status ragged_tensor_to_variant_gradient_into(const VariantArray& encoded_ragged_grad,
                                                               const std::vector<Tensor>& row_splits,
                                                               Ints dense_values_shape, const View& out,
                                                               Write write = Write::Overwrite, const Context& = {});
inline Status ragged_tensor_to_variant_gradient_into(const VariantArray& encoded_ragged_grad,
                                                     const std::vector<Tensor>& row_splits, Ints dense_values_shape,
                                                     const View& out, const Context& context) {
  return ragged_tensor_to_variant_gradient_into(encoded_ragged_grad, row_splits, dense_values_shape, out,
                                                Write::Overwrite, context);
}

}  // namespace backslice
