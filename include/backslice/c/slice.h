/* Slices of dense tensors and their gradients, into the caller's memory.
 *
 * An output has exactly the result's element type and shape, any strides, and overlaps neither itself nor an input.
 */
#ifndef BACKSLICE_C_SLICE_H
#define BACKSLICE_C_SLICE_H

#include "backslice/c/selection.h"

#ifdef __cplusplus
extern "C" {
#endif

/* out = x[selection], and its gradient. backslice_selection_shape and ..._result_shape tell how large an output is. */
BACKSLICE_C_API int32_t backslice_slice_into(const backslice_selection* selection, const backslice_view* x,
                                             const backslice_view* out, const backslice_context* context);
BACKSLICE_C_API int32_t backslice_slice_grad_into(const backslice_selection* selection, const backslice_view* dy,
                                                  const backslice_view* out, int32_t write,
                                                  const backslice_context* context);

/* TensorFlow's StridedSlice and StridedSliceGrad: the shape of the slice, the slice, its gradient. */
BACKSLICE_C_API int32_t backslice_strided_slice_shape(backslice_ints shape, const backslice_tf_slice* spec,
                                                      int64_t result_shape[BACKSLICE_MAX_RANK], int32_t* result_rank);
BACKSLICE_C_API int32_t backslice_strided_slice_into(const backslice_view* input, const backslice_tf_slice* spec,
                                                     const backslice_view* out, const backslice_context* context);
BACKSLICE_C_API int32_t backslice_strided_slice_grad_into(backslice_ints shape, const backslice_tf_slice* spec,
                                                          const backslice_view* dy, const backslice_view* out,
                                                          int32_t write, const backslice_context* context);

/* ONNX's Slice and ONNX Runtime's SliceGrad, whose grad may have any shape with as many elements as the slice. */
BACKSLICE_C_API int32_t backslice_onnx_slice_shape(backslice_ints shape, const backslice_onnx_slice* spec,
                                                   int64_t result_shape[BACKSLICE_MAX_RANK], int32_t* result_rank);
BACKSLICE_C_API int32_t backslice_onnx_slice_into(const backslice_view* data, const backslice_onnx_slice* spec,
                                                  const backslice_view* out, const backslice_context* context);
BACKSLICE_C_API int32_t backslice_onnx_slice_grad_into(const backslice_view* grad, backslice_ints shape,
                                                       const backslice_onnx_slice* spec, const backslice_view* out,
                                                       int32_t write, const backslice_context* context);

/* The sum of the gradients of `count` slices of one tensor, in one pass over it. */
BACKSLICE_C_API int32_t backslice_multi_slice_grad_into(backslice_ints shape,
                                                        const backslice_selection* const* selections,
                                                        const backslice_view* dys, int64_t count,
                                                        const backslice_view* out, int32_t write,
                                                        const backslice_context* context);

/* `count` tensors written into slices of one tensor, in their order: where slices overlap, the last one wins. Zero
 * elsewhere. A tensor to write over is the first of them, with a selection of all. */
BACKSLICE_C_API int32_t backslice_multi_slice_write_into(backslice_ints shape,
                                                         const backslice_selection* const* selections,
                                                         const backslice_view* dys, int64_t count,
                                                         const backslice_view* out, const backslice_context* context);

/* -- Prepared slices: checked and planned once, to run often. Several threads may use one at once. */

/* For contiguous tensors; `item_size` is for BACKSLICE_BYTES only, which need it: at least 1. */
BACKSLICE_C_API int32_t backslice_prepared_slice_make(const backslice_selection* selection, int32_t dtype,
                                                      int64_t item_size, backslice_prepared_slice** out);

/* For tensors that lie as these two do, whose data is not looked at: `x` of the input's shape, `y` of the result's. */
BACKSLICE_C_API int32_t backslice_prepared_slice_make_for(const backslice_selection* selection, const backslice_view* x,
                                                          const backslice_view* y, backslice_prepared_slice** out);

/* out = x[selection]; out = dy where selected, zero elsewhere; out[selection] += dy, as BACKSLICE_ACCUMULATE. */
BACKSLICE_C_API int32_t backslice_prepared_slice_forward(const backslice_prepared_slice* prepared,
                                                         const backslice_view* x, const backslice_view* out,
                                                         const backslice_context* context);
BACKSLICE_C_API int32_t backslice_prepared_slice_gradient(const backslice_prepared_slice* prepared,
                                                          const backslice_view* dy, const backslice_view* out,
                                                          const backslice_context* context);
BACKSLICE_C_API int32_t backslice_prepared_slice_accumulate(const backslice_prepared_slice* prepared,
                                                            const backslice_view* dy, const backslice_view* out,
                                                            const backslice_context* context);

#ifdef __cplusplus
}
#endif

#endif
