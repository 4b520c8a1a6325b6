/* Ragged tensors to arrays of variants and back, with gradients: TensorFlow's RaggedTensorToVariant,
 * RaggedTensorFromVariant and RaggedTensorToVariantGradient. */
#ifndef BACKSLICE_C_RAGGED_VARIANT_H
#define BACKSLICE_C_RAGGED_VARIANT_H

#include "backslice/c/ragged.h"

#ifdef __cplusplus
extern "C" {
#endif

/* -- Arrays whose elements are ragged tensors, or nothing in their place */

/* From `count` elements in row-major order, NULL for missing ones. The handles remain the caller's. */
BACKSLICE_C_API int32_t backslice_variant_array_make(const backslice_ragged* const* elements, int64_t count,
                                                     backslice_ints shape, backslice_variant_array** out);
BACKSLICE_C_API int32_t backslice_variant_array_shape(const backslice_variant_array* array,
                                                      int64_t shape[BACKSLICE_MAX_RANK], int32_t* rank);
BACKSLICE_C_API int32_t backslice_variant_array_reshape(const backslice_variant_array* array, backslice_ints shape,
                                                        backslice_variant_array** out);

/* An element, NULL for a missing one; and the same into the caller's memory, where a missing one is an error. */
BACKSLICE_C_API int32_t backslice_variant_array_at(const backslice_variant_array* array, int64_t i,
                                                   const backslice_context* context, backslice_ragged** out);
BACKSLICE_C_API int32_t backslice_variant_array_element_size(const backslice_variant_array* array, int64_t i,
                                                             const backslice_context* context,
                                                             backslice_ragged_size* size);
BACKSLICE_C_API int32_t backslice_variant_array_element_into(const backslice_variant_array* array, int64_t i,
                                                             const backslice_view* out_splits, int32_t count,
                                                             const backslice_view* out_values,
                                                             const backslice_context* context);

/* -- Encoding and decoding */

/* What the elements must be. */
typedef struct backslice_variant_types {
  size_t struct_size;
  int32_t values;    /* an element type, or -1: what the elements have */
  int32_t splits;    /* BACKSLICE_INT32, BACKSLICE_INT64, or -1: what the elements have */
  int64_t item_size; /* of the values, for BACKSLICE_BYTES only, which need it: at least 1 */
} backslice_variant_types;

#define BACKSLICE_VARIANT_TYPES_INIT {sizeof(backslice_variant_types), -1, -1, 0}

/* One element per row; with batched_input 0, a scalar that holds all of it. */
BACKSLICE_C_API int32_t backslice_ragged_tensor_to_variant(const backslice_ragged* rt, int32_t batched_input,
                                                           backslice_variant_array** out);

/* The elements as the rows of one ragged tensor: as a handle; or its size, and then its splits and values. `types` may
 * be NULL. */
BACKSLICE_C_API int32_t backslice_ragged_tensor_from_variant(const backslice_variant_array* encoded,
                                                             int32_t input_ragged_rank, int32_t output_ragged_rank,
                                                             const backslice_variant_types* types,
                                                             const backslice_context* context, backslice_ragged** out);
BACKSLICE_C_API int32_t backslice_ragged_tensor_from_variant_size(const backslice_variant_array* encoded,
                                                                  int32_t input_ragged_rank, int32_t output_ragged_rank,
                                                                  const backslice_variant_types* types,
                                                                  const backslice_context* context,
                                                                  backslice_ragged_size* size);
BACKSLICE_C_API int32_t backslice_ragged_tensor_from_variant_into(const backslice_variant_array* encoded,
                                                                  int32_t input_ragged_rank, int32_t output_ragged_rank,
                                                                  const backslice_view* out_splits, int32_t count,
                                                                  const backslice_view* out_values,
                                                                  const backslice_variant_types* types,
                                                                  const backslice_context* context);

/* -- Gradients */

/* Of decoding: `decoded` is what was made, with the gradient as its values. */
BACKSLICE_C_API int32_t backslice_ragged_tensor_from_variant_gradient(const backslice_ragged* decoded,
                                                                      backslice_ints encoded_shape,
                                                                      backslice_variant_array** out);

/* Of encoding: the pieces one after the other. Zeros for missing ones, as many as `row_splits` say: the outermost list
 * that was encoded, or all of them. */
BACKSLICE_C_API int32_t backslice_ragged_tensor_to_variant_gradient_into(
    const backslice_variant_array* encoded_ragged_grad, const backslice_view* row_splits, int32_t count,
    backslice_ints dense_values_shape, const backslice_view* out, int32_t write, const backslice_context* context);

/* The same from pieces that are dense: values without splits, of any shape. Piece i is missing where missing[i] is not
 * 0, and its view is then not looked at. `missing` may be NULL: none is. */
BACKSLICE_C_API int32_t backslice_ragged_pieces_gradient_into(const backslice_view* pieces, const uint8_t* missing,
                                                              int64_t piece_count, const backslice_view* row_splits,
                                                              int32_t count, backslice_ints dense_values_shape,
                                                              const backslice_view* out, int32_t write,
                                                              const backslice_context* context);

#ifdef __cplusplus
}
#endif

#endif
