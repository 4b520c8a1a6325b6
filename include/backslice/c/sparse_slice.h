/* Slices of sparse (COO) tensors, and the gradient of their values. */
#ifndef BACKSLICE_C_SPARSE_SLICE_H
#define BACKSLICE_C_SPARSE_SLICE_H

#include "backslice/c/base.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Where entries lie: one matrix [entries, rank] (count 1, is_columns 0), or one vector per axis (is_columns 1), of
 * int32 or int64. */
typedef struct backslice_coo_indices {
  size_t struct_size;
  const backslice_view* arrays;
  int32_t count;
  int32_t is_columns;
} backslice_coo_indices;

#define BACKSLICE_COO_INDICES_INIT {sizeof(backslice_coo_indices), NULL, 1, 0}

/* How the rows of a slice find the rows they came from. */
enum {
  BACKSLICE_IN_ORDER = 0, /* each goes to the first match after the one before it: TensorFlow's rule */
  BACKSLICE_ANY_ORDER = 1 /* the n-th row with an index goes to the n-th input row with that index */
};

/* How many entries a slice has; then the entries, and the slice's shape, of as many extents as `shape` has. */
BACKSLICE_C_API int32_t backslice_sparse_slice_count(const backslice_coo_indices* indices, backslice_ints start,
                                                     backslice_ints size, const backslice_context* context,
                                                     int64_t* count);
BACKSLICE_C_API int32_t backslice_sparse_slice_into(const backslice_coo_indices* indices, const backslice_view* values,
                                                    backslice_ints shape, backslice_ints start, backslice_ints size,
                                                    const backslice_view* out_indices, const backslice_view* out_values,
                                                    int64_t result_shape[BACKSLICE_MAX_RANK],
                                                    const backslice_context* context);

/* The gradient of the values that were sliced: TensorFlow's SparseSliceGrad, and the same from the size of the slice.
 */
BACKSLICE_C_API int32_t backslice_sparse_slice_grad_into(const backslice_view* backprop_val_grad,
                                                         const backslice_coo_indices* input_indices,
                                                         backslice_ints input_start,
                                                         const backslice_coo_indices* output_indices,
                                                         const backslice_view* out, int32_t order, int32_t write,
                                                         const backslice_context* context);
BACKSLICE_C_API int32_t backslice_sparse_slice_grad_by_size_into(const backslice_view* grad,
                                                                 const backslice_coo_indices* input_indices,
                                                                 backslice_ints start, backslice_ints size,
                                                                 const backslice_view* out, int32_t write,
                                                                 const backslice_context* context);

#ifdef __cplusplus
}
#endif

#endif
