/// @file
/// Ragged tensors to arrays of variants and back, with gradients: TensorFlow's RaggedTensorToVariant,
/// RaggedTensorFromVariant and RaggedTensorToVariantGradient.
#pragma once

#include "backslice/variant_array.h"

namespace backslice {

/// One element per row, of one ragged rank less; with batched_input false, a scalar that holds all of it. Nothing is
/// copied: VariantArray::element_size and element_into put an element into memory that the caller owns.
BACKSLICE_EXPORT Result<VariantArray> ragged_tensor_to_variant(const RaggedTensor& rt, bool batched_input = true);

/// The dtype of values, with the size of an item if the dtype does not determine it.
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

/// Makes one ragged tensor of output_ragged_rank from the elements of `encoded` as its rows. Each element has ragged
/// rank input_ragged_rank (-1: output_ragged_rank minus the array's rank), and output_ragged_rank is the sum of that
/// and the array's rank. An output_ragged_rank of 0 stacks dense elements of one shape instead. Adjacent elements are
/// not copied.
BACKSLICE_EXPORT Result<RaggedTensor> ragged_tensor_from_variant(const VariantArray& encoded, int input_ragged_rank,
                                                                 int output_ragged_rank, const FromVariantTypes& = {},
                                                                 const Context& = {});
template <int = 0>  // here and below: so that `{}` is the argument with a default, not the Context
Result<RaggedTensor> ragged_tensor_from_variant(const VariantArray& encoded, int input_ragged_rank,
                                                int output_ragged_rank, const Context& context) {
  return ragged_tensor_from_variant(encoded, input_ragged_rank, output_ragged_rank, FromVariantTypes(), context);
}

/// The same into the caller's memory: its size, then the splits and values. The splits may be of either dtype;
/// types.splits is the dtype of the elements' splits.
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

/// Returns the gradient of ragged_tensor_from_variant. `decoded` is its result with the gradient as its values; the
/// returned array has the shape of the decoded one.
BACKSLICE_EXPORT Result<VariantArray> ragged_tensor_from_variant_gradient(const RaggedTensor& decoded,
                                                                          Ints encoded_shape);

/// Returns the gradient of ragged_tensor_to_variant: the pieces one after the other, as a dense tensor of that shape. A
/// missing piece i is zeros for the rows [splits[i], splits[i+1]) of the outermost list. `row_splits` are the encoded
/// splits: the outermost list, or all lists, which missing pieces of ragged rank 1 and more need for their size. A
/// scalar suffices if no piece is missing. Adjacent pieces are not copied.
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

/// The same into the caller's memory, of that shape and the dtype of the pieces.
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
