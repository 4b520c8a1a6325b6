/* Selections: which elements of a tensor a slice takes, in which order. The normal form of every dialect.
 *
 *     const int64_t shape[] = {4, 5};
 *     backslice_selection* rows = NULL;
 *     backslice_selection_from_index((backslice_ints){shape, 2}, (backslice_string){"1:3", 3}, &rows);
 *     ...
 *     backslice_free(rows);
 */
#ifndef BACKSLICE_C_SELECTION_H
#define BACKSLICE_C_SELECTION_H

#include "backslice/c/base.h"

#ifdef __cplusplus
extern "C" {
#endif

/* The arguments of TensorFlow's StridedSlice: one entry per position; the masks are sets of positions. */
typedef struct backslice_tf_slice {
  size_t struct_size;
  backslice_ints begin, end, strides;
  int32_t begin_mask, end_mask, ellipsis_mask, new_axis_mask, shrink_axis_mask;
} backslice_tf_slice;

#define BACKSLICE_TF_SLICE_INIT {sizeof(backslice_tf_slice), {NULL, 0}, {NULL, 0}, {NULL, 0}, 0, 0, 0, 0, 0}

/* The arguments of ONNX's Slice. `axes` and `steps` may be left out. */
typedef struct backslice_onnx_slice {
  size_t struct_size;
  backslice_ints starts, ends, axes, steps;
} backslice_onnx_slice;

#define BACKSLICE_ONNX_SLICE_INIT {sizeof(backslice_onnx_slice), {NULL, 0}, {NULL, 0}, {NULL, 0}, {NULL, 0}}

/* One axis of the normal form: the indices start, start + step, ..., `count` of them. */
typedef struct backslice_axis {
  int64_t start, step, count;
} backslice_axis;

/* A half-open range of one axis. */
typedef struct backslice_range {
  int64_t lo, hi;
} backslice_range;

/* In `result_axes`: an axis of the result that the input does not have. */
#define BACKSLICE_NEW_AXIS (-1)

/* From Python's notation, "1:3, ::2, ..., None, -1". */
BACKSLICE_C_API int32_t backslice_selection_from_index(backslice_ints shape, backslice_string index,
                                                       backslice_selection** out);
BACKSLICE_C_API int32_t backslice_selection_from_tf(backslice_ints shape, const backslice_tf_slice* spec,
                                                    backslice_selection** out);
BACKSLICE_C_API int32_t backslice_selection_from_onnx(backslice_ints shape, const backslice_onnx_slice* spec,
                                                      backslice_selection** out);

/* From the arguments of TensorFlow's Slice, one entry per axis: x[begin : begin + size], where a size of -1 is the rest
 * of the axis. Nothing counts from the end, and what does not fit is refused. */
BACKSLICE_C_API int32_t backslice_selection_from_begin_size(backslice_ints shape, backslice_ints begin,
                                                            backslice_ints size, backslice_selection** out);

/* The whole tensor. */
BACKSLICE_C_API int32_t backslice_selection_all(backslice_ints shape, backslice_selection** out);

/* From the normal form itself: one axis per axis of the shape, and for each axis of the result its input axis or
 * BACKSLICE_NEW_AXIS. An input axis that `result_axes` leaves out is dropped and must have count 1. */
BACKSLICE_C_API int32_t backslice_selection_make(backslice_ints shape, const backslice_axis* axes,
                                                 backslice_ints result_axes, backslice_selection** out);

/* The shape of the input, and of the result. */
BACKSLICE_C_API int32_t backslice_selection_shape(const backslice_selection* selection,
                                                  int64_t shape[BACKSLICE_MAX_RANK], int32_t* rank);
BACKSLICE_C_API int32_t backslice_selection_result_shape(const backslice_selection* selection,
                                                         int64_t shape[BACKSLICE_MAX_RANK], int32_t* rank);

/* The normal form: as many axes as the shape has, as many result axes as the result. */
BACKSLICE_C_API int32_t backslice_selection_axes(const backslice_selection* selection,
                                                 backslice_axis axes[BACKSLICE_MAX_RANK],
                                                 int64_t result_axes[BACKSLICE_MAX_RANK]);

/* The part inside a box of the input, one range per axis: the selection in the coordinates of the box, and the part of
 * dy that falls inside. Both become NULL where the box and the selection do not meet. */
BACKSLICE_C_API int32_t backslice_selection_restrict(const backslice_selection* selection, const backslice_range* box,
                                                     int32_t count, backslice_selection** inside,
                                                     backslice_selection** dy);

#ifdef __cplusplus
}
#endif

#endif
