/* Tensor arrays: lists of tensors that are written and read by index, with gradients. Thread-safe.
 *
 * What is written is copied. The ..._shared functions keep the caller's memory instead, which must not change from then
 * on: `release`, which may be NULL, is called with `user` once when it is needed no more, on any thread. No lock is
 * held then: it may call backslice. Where the call fails it is not called.
 */
#ifndef BACKSLICE_C_TENSOR_ARRAY_H
#define BACKSLICE_C_TENSOR_ARRAY_H

#include "backslice/c/base.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct backslice_tensor_array_options {
  size_t struct_size;
  backslice_ints element_shape;     /* every element's, -1 for extents that are not known; left out: nothing is known */
  int32_t dynamic_size;             /* 1: writing past the end makes the array longer */
  int32_t clear_after_read;         /* 1: an element is let go of when it is read */
  int32_t identical_element_shapes; /* 1: the first write fixes element_shape */
  int32_t contiguous;               /* 1: one block, made at once; needs all of element_shape and a fixed size */
  backslice_string name;            /* for messages */
  int64_t item_size;                /* for BACKSLICE_BYTES only, which need it: at least 1 */
  int32_t any_device;               /* 1: the first element that is written decides the device, not the context */
} backslice_tensor_array_options;

#define BACKSLICE_TENSOR_ARRAY_OPTIONS_INIT \
  {sizeof(backslice_tensor_array_options), {NULL, 0}, 0, 1, 0, 0, {NULL, 0}, 0, 0}

/* `size` is at most 2^31 - 1. `options` may be NULL. Elements are on the context's device; values and outputs must be
 * there, too. */
BACKSLICE_C_API int32_t backslice_tensor_array_make(int64_t size, int32_t dtype,
                                                    const backslice_tensor_array_options* options,
                                                    const backslice_context* context, backslice_tensor_array** out);

/* -- Writing: one element, the rows of a tensor to given indices or to all of them, runs of rows of given lengths */

BACKSLICE_C_API int32_t backslice_tensor_array_write(backslice_tensor_array* array, int64_t index,
                                                     const backslice_view* value, const backslice_context* context);
BACKSLICE_C_API int32_t backslice_tensor_array_write_shared(backslice_tensor_array* array, int64_t index,
                                                            const backslice_view* value, void (*release)(void* user),
                                                            void* user, const backslice_context* context);
BACKSLICE_C_API int32_t backslice_tensor_array_scatter(backslice_tensor_array* array, backslice_ints indices,
                                                       const backslice_view* value, const backslice_context* context);
BACKSLICE_C_API int32_t backslice_tensor_array_scatter_shared(backslice_tensor_array* array, backslice_ints indices,
                                                              const backslice_view* value, void (*release)(void* user),
                                                              void* user, const backslice_context* context);
BACKSLICE_C_API int32_t backslice_tensor_array_unstack(backslice_tensor_array* array, const backslice_view* value,
                                                       const backslice_context* context);
BACKSLICE_C_API int32_t backslice_tensor_array_unstack_shared(backslice_tensor_array* array,
                                                              const backslice_view* value, void (*release)(void* user),
                                                              void* user, const backslice_context* context);
BACKSLICE_C_API int32_t backslice_tensor_array_split(backslice_tensor_array* array, const backslice_view* value,
                                                     backslice_ints lengths, const backslice_context* context);
BACKSLICE_C_API int32_t backslice_tensor_array_split_shared(backslice_tensor_array* array, const backslice_view* value,
                                                            backslice_ints lengths, void (*release)(void* user),
                                                            void* user, const backslice_context* context);

/* -- Reading: the shape first, then into the caller's memory. Element shapes may be left out. */

BACKSLICE_C_API int32_t backslice_tensor_array_read_shape(const backslice_tensor_array* array, int64_t index,
                                                          int64_t shape[BACKSLICE_MAX_RANK], int32_t* rank,
                                                          const backslice_context* context);
BACKSLICE_C_API int32_t backslice_tensor_array_read_into(backslice_tensor_array* array, int64_t index,
                                                         const backslice_view* out, const backslice_context* context);
BACKSLICE_C_API int32_t backslice_tensor_array_gather_shape(const backslice_tensor_array* array, backslice_ints indices,
                                                            backslice_ints element_shape,
                                                            int64_t shape[BACKSLICE_MAX_RANK], int32_t* rank,
                                                            const backslice_context* context);
BACKSLICE_C_API int32_t backslice_tensor_array_gather_into(backslice_tensor_array* array, backslice_ints indices,
                                                           const backslice_view* out, backslice_ints element_shape,
                                                           const backslice_context* context);
BACKSLICE_C_API int32_t backslice_tensor_array_stack_shape(const backslice_tensor_array* array,
                                                           int64_t shape[BACKSLICE_MAX_RANK], int32_t* rank,
                                                           const backslice_context* context);
BACKSLICE_C_API int32_t backslice_tensor_array_stack_into(backslice_tensor_array* array, const backslice_view* out,
                                                          const backslice_context* context);
BACKSLICE_C_API int32_t backslice_tensor_array_concat_shape(const backslice_tensor_array* array,
                                                            backslice_ints element_shape_except0,
                                                            int64_t shape[BACKSLICE_MAX_RANK], int32_t* rank,
                                                            const backslice_context* context);
/* `lengths` has room for as many numbers as the array has elements. */
BACKSLICE_C_API int32_t backslice_tensor_array_concat_into(backslice_tensor_array* array, const backslice_view* out,
                                                           int64_t* lengths, int64_t lengths_size,
                                                           backslice_ints element_shape_except0,
                                                           const backslice_context* context);

/* -- Gradients: the same array for the same source, made at the first call */

BACKSLICE_C_API int32_t backslice_tensor_array_grad(backslice_tensor_array* array, backslice_string source,
                                                    const backslice_context* context, backslice_tensor_array** out);
/* Its elements have shape_to_prepend before the element shape. */
BACKSLICE_C_API int32_t backslice_tensor_array_grad_with_shape(backslice_tensor_array* array, backslice_string source,
                                                               backslice_ints shape_to_prepend,
                                                               const backslice_context* context,
                                                               backslice_tensor_array** out);
/* The gradient of that source, NULL if it was not made. */
BACKSLICE_C_API int32_t backslice_tensor_array_find_grad(const backslice_tensor_array* array, backslice_string source,
                                                         backslice_tensor_array** out);

/* -- The array itself */

BACKSLICE_C_API int32_t backslice_tensor_array_size(const backslice_tensor_array* array, int64_t* size);
/* "name@source" for gradients. Holds as long as the handle does. */
BACKSLICE_C_API int32_t backslice_tensor_array_name(const backslice_tensor_array* array, backslice_string* name);
BACKSLICE_C_API int32_t backslice_tensor_array_dtype(const backslice_tensor_array* array, int32_t* dtype);
/* -1 for extents that are not known; a rank of -1 where nothing is known. */
BACKSLICE_C_API int32_t backslice_tensor_array_element_shape(const backslice_tensor_array* array,
                                                             int64_t shape[BACKSLICE_MAX_RANK], int32_t* rank);
/* Where the elements are, as in a view. */
BACKSLICE_C_API int32_t backslice_tensor_array_device(const backslice_tensor_array* array, int32_t* device_type,
                                                      int32_t* device_id);
BACKSLICE_C_API int32_t backslice_tensor_array_is_gradient(const backslice_tensor_array* array, int32_t* is_gradient);
BACKSLICE_C_API int32_t backslice_tensor_array_is_closed(const backslice_tensor_array* array, int32_t* is_closed);

/* Lets go of everything. Operations on elements fail from now on; the handle is still to be freed. */
BACKSLICE_C_API int32_t backslice_tensor_array_close(backslice_tensor_array* array);

#ifdef __cplusplus
}
#endif

#endif
