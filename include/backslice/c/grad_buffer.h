/* Gradient buffers: a gradient that knows where it is not zero, and clears only that. One writer at a time. */
#ifndef BACKSLICE_C_GRAD_BUFFER_H
#define BACKSLICE_C_GRAD_BUFFER_H

#include "backslice/c/selection.h"

#ifdef __cplusplus
extern "C" {
#endif

/* All zero. `item_size` is for BACKSLICE_BYTES only, which need it: at least 1. */
BACKSLICE_C_API int32_t backslice_grad_buffer_make(backslice_ints shape, int32_t dtype, int64_t item_size,
                                                   const backslice_context* context, backslice_grad_buffer** out);

/* The content becomes the gradient of this slice; the gradient of this slice is added; the content becomes zero. Adding
 * is cancelled before anything is added, or not at all; writing leaves unspecified values where it and the slices
 * before it wrote, which the next write or zero clears. */
BACKSLICE_C_API int32_t backslice_grad_buffer_write(backslice_grad_buffer* buffer, const backslice_selection* selection,
                                                    const backslice_view* dy, const backslice_context* context);
BACKSLICE_C_API int32_t backslice_grad_buffer_add(backslice_grad_buffer* buffer, const backslice_selection* selection,
                                                  const backslice_view* dy, const backslice_context* context);
BACKSLICE_C_API int32_t backslice_grad_buffer_zero(backslice_grad_buffer* buffer, const backslice_context* context);

/* The content, to read; and to write by other means, after which everything counts as written until the next write or
 * zero. */
BACKSLICE_C_API int32_t backslice_grad_buffer_view(const backslice_grad_buffer* buffer, backslice_view* view);
BACKSLICE_C_API int32_t backslice_grad_buffer_writable(backslice_grad_buffer* buffer, backslice_view* view);

#ifdef __cplusplus
}
#endif

#endif
