/* Ragged tensors: rows of different lengths; arrays of them as variants; their slices and gradients.
 *
 * A ragged tensor owns a checked copy of its splits and borrows its values, which must not go before it and everything
 * made of it: elements, variants and slices share their memory.
 */
#ifndef BACKSLICE_C_RAGGED_H
#define BACKSLICE_C_RAGGED_H

#include "backslice/c/selection.h"

#ifdef __cplusplus
extern "C" {
#endif

/* From values and `count` lists of row splits (or of row lengths), outermost first, each int32 or int64. Values with
 * gaps are copied. `release`, which may be NULL, is called with `user` once when the values are needed no more, on any
 * thread. No lock is held then: it may call backslice. Where the call fails it is not called. */
BACKSLICE_C_API int32_t backslice_ragged_make(const backslice_view* values, const backslice_view* row_splits,
                                              int32_t count, void (*release)(void* user), void* user,
                                              const backslice_context* context, backslice_ragged** out);
BACKSLICE_C_API int32_t backslice_ragged_from_row_lengths(const backslice_view* values,
                                                          const backslice_view* row_lengths, int32_t count,
                                                          void (*release)(void* user), void* user,
                                                          const backslice_context* context, backslice_ragged** out);

/* What it consists of: how many lists of splits, a list of them, the values. To read. */
BACKSLICE_C_API int32_t backslice_ragged_rank(const backslice_ragged* rt, int32_t* ragged_rank);
BACKSLICE_C_API int32_t backslice_ragged_row_splits(const backslice_ragged* rt, int32_t level, backslice_view* view);
BACKSLICE_C_API int32_t backslice_ragged_values(const backslice_ragged* rt, backslice_view* view);

/* How much memory a ragged tensor takes. */
typedef struct backslice_ragged_size {
  size_t struct_size;
  int32_t ragged_rank;
  int32_t rank;                       /* of the values */
  int64_t splits[BACKSLICE_MAX_RANK]; /* how long each list of splits is */
  int64_t values[BACKSLICE_MAX_RANK]; /* the shape of the values */
  int64_t item_size;                  /* of the values, in bytes */
  int32_t dtype;                      /* of the values */
  int32_t splits_dtype;               /* of what would be made; the caller's lists may be of the other */
} backslice_ragged_size;

#define BACKSLICE_RAGGED_SIZE_INIT {sizeof(backslice_ragged_size), 0, 0, {0}, {0}, 0, 0, 0}

/* -- Slices of the rows, by a selection of one axis */

BACKSLICE_C_API int32_t backslice_ragged_slice(const backslice_ragged* rt, const backslice_selection* rows,
                                               const backslice_context* context, backslice_ragged** out);
BACKSLICE_C_API int32_t backslice_ragged_slice_size(const backslice_ragged* rt, const backslice_selection* rows,
                                                    const backslice_context* context, backslice_ragged_size* size);
BACKSLICE_C_API int32_t backslice_ragged_slice_into(const backslice_ragged* rt, const backslice_selection* rows,
                                                    const backslice_view* out_splits, int32_t count,
                                                    const backslice_view* out_values, const backslice_context* context);
BACKSLICE_C_API int32_t backslice_ragged_slice_grad_into(const backslice_ragged* rt, const backslice_selection* rows,
                                                         const backslice_view* dy, const backslice_view* out,
                                                         int32_t write, const backslice_context* context);

#ifdef __cplusplus
}
#endif

#endif
