// Reads tensor arrays: first the shape of a result, then the result into the caller's memory.
#include "backslice/c/tensor_array.h"
#include "capi/context.h"
#include "capi/handles.h"

using namespace backslice;
using namespace backslice::capi;

namespace {

// Writes the shape that `of(array, context)` returns.
template <class Of>
int32_t write_shape(const backslice_tensor_array* array, int64_t* shape, int32_t* rank,
                    const backslice_context* context, const Of& of) {
  return guarded([&] {
    const ShapeOut out(shape, "shape", rank, "rank");
    const CallContext call(context);
    return out.set(unwrap(of(get(array, "array"), call)));
  });
}

// Reads by `read(array, view, context)`.
template <class Read>
int32_t read_into(backslice_tensor_array* array, const backslice_view* out, const backslice_context* context,
                  const Read& read) {
  return guarded([&] {
    const CallContext call(context);
    return read(get(array, "array"), view_of(out, "out"), call);
  });
}

}  // namespace

int32_t backslice_tensor_array_read_shape(const backslice_tensor_array* array, int64_t index,
                                          int64_t shape[BACKSLICE_MAX_RANK], int32_t* rank,
                                          const backslice_context* context) {
  return write_shape(array, shape, rank, context,
                     [&](const TensorArray& of, const Context& call) { return of.read_shape(index, call); });
}

int32_t backslice_tensor_array_read_into(backslice_tensor_array* array, int64_t index, const backslice_view* out,
                                         const backslice_context* context) {
  return read_into(array, out, context, [&](TensorArray& from, const View& view, const Context& call) {
    return from.read_into(index, view, call);
  });
}

int32_t backslice_tensor_array_gather_shape(const backslice_tensor_array* array, backslice_ints indices,
                                            backslice_ints element_shape, int64_t shape[BACKSLICE_MAX_RANK],
                                            int32_t* rank, const backslice_context* context) {
  return write_shape(array, shape, rank, context, [&](const TensorArray& of, const Context& call) {
    return of.gather_shape(ints_of(indices, "indices"), partial_shape_of(element_shape, "element_shape"), call);
  });
}

int32_t backslice_tensor_array_gather_into(backslice_tensor_array* array, backslice_ints indices,
                                           const backslice_view* out, backslice_ints element_shape,
                                           const backslice_context* context) {
  return read_into(array, out, context, [&](TensorArray& from, const View& view, const Context& call) {
    return from.gather_into(ints_of(indices, "indices"), view, partial_shape_of(element_shape, "element_shape"), call);
  });
}

int32_t backslice_tensor_array_stack_shape(const backslice_tensor_array* array, int64_t shape[BACKSLICE_MAX_RANK],
                                           int32_t* rank, const backslice_context* context) {
  return write_shape(array, shape, rank, context,
                     [](const TensorArray& of, const Context& call) { return of.stack_shape(call); });
}

int32_t backslice_tensor_array_stack_into(backslice_tensor_array* array, const backslice_view* out,
                                          const backslice_context* context) {
  return read_into(array, out, context, [](TensorArray& from, const View& view, const Context& call) {
    return from.stack_into(view, call);
  });
}

int32_t backslice_tensor_array_concat_shape(const backslice_tensor_array* array, backslice_ints element_shape_except0,
                                            int64_t shape[BACKSLICE_MAX_RANK], int32_t* rank,
                                            const backslice_context* context) {
  return write_shape(array, shape, rank, context, [&](const TensorArray& of, const Context& call) {
    return of.concat_shape(partial_shape_of(element_shape_except0, "element_shape_except0"), call);
  });
}

int32_t backslice_tensor_array_concat_into(backslice_tensor_array* array, const backslice_view* out, int64_t* lengths,
                                           int64_t lengths_size, backslice_ints element_shape_except0,
                                           const backslice_context* context) {
  return read_into(array, out, context, [&](TensorArray& from, const View& view, const Context& call) {
    return from.concat_into(view, items(lengths, lengths_size, "lengths", "lengths_size"),
                            partial_shape_of(element_shape_except0, "element_shape_except0"), call);
  });
}
