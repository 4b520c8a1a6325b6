// Writes to tensor arrays: copies, or memory that the caller shares.
#include "backslice/c/tensor_array.h"
#include "backslice/slice.h"
#include "capi/context.h"
#include "capi/handles.h"
#include "capi/shared_memory.h"

using namespace backslice;
using namespace backslice::capi;

namespace {

// Writes a copy of the value by `write(array, tensor, context)`.
template <class Body>
int32_t write_copy(backslice_tensor_array* array, const backslice_view* value, const backslice_context* context,
                   const Body& write) {
  return guarded([&] {
    const CallContext call(context);
    TensorArray& into = get(array, "array");
    const View view = view_of(value, "value");
    return write(into, unwrap(slice(Selection::all(view.shape()), view, call)), call);
  });
}

template <class Body>
int32_t write_shared(backslice_tensor_array* array, const backslice_view* value, Release release, void* user,
                     const backslice_context* context, const Body& write) {
  return guarded([&] {
    const CallContext call(context);
    TensorArray& into = get(array, "array");
    SharedMemory memory(view_of(value, "value"), release, user);
    return memory.keep_if_ok(write(into, memory.tensor(), call));
  });
}

// The four ways to write, each with its own arguments.
auto to_index(int64_t index) {
  return [=](TensorArray& array, const Tensor& value, const Context& context) {
    return array.write(index, value, context);
  };
}

auto to_indices(const backslice_ints& indices) {
  return [&](TensorArray& array, const Tensor& value, const Context& context) {
    return array.scatter(ints_of(indices, "indices"), value, context);
  };
}

Status to_all(TensorArray& array, const Tensor& value, const Context& context) { return array.unstack(value, context); }

auto in_runs(const backslice_ints& lengths) {
  return [&](TensorArray& array, const Tensor& value, const Context& context) {
    return array.split(value, ints_of(lengths, "lengths"), context);
  };
}

}  // namespace

int32_t backslice_tensor_array_write(backslice_tensor_array* array, int64_t index, const backslice_view* value,
                                     const backslice_context* context) {
  return write_copy(array, value, context, to_index(index));
}

int32_t backslice_tensor_array_write_shared(backslice_tensor_array* array, int64_t index, const backslice_view* value,
                                            void (*release)(void* user), void* user, const backslice_context* context) {
  return write_shared(array, value, release, user, context, to_index(index));
}

int32_t backslice_tensor_array_scatter(backslice_tensor_array* array, backslice_ints indices,
                                       const backslice_view* value, const backslice_context* context) {
  return write_copy(array, value, context, to_indices(indices));
}

int32_t backslice_tensor_array_scatter_shared(backslice_tensor_array* array, backslice_ints indices,
                                              const backslice_view* value, void (*release)(void* user), void* user,
                                              const backslice_context* context) {
  return write_shared(array, value, release, user, context, to_indices(indices));
}

int32_t backslice_tensor_array_unstack(backslice_tensor_array* array, const backslice_view* value,
                                       const backslice_context* context) {
  return write_copy(array, value, context, to_all);
}

int32_t backslice_tensor_array_unstack_shared(backslice_tensor_array* array, const backslice_view* value,
                                              void (*release)(void* user), void* user,
                                              const backslice_context* context) {
  return write_shared(array, value, release, user, context, to_all);
}

int32_t backslice_tensor_array_split(backslice_tensor_array* array, const backslice_view* value, backslice_ints lengths,
                                     const backslice_context* context) {
  return write_copy(array, value, context, in_runs(lengths));
}

int32_t backslice_tensor_array_split_shared(backslice_tensor_array* array, const backslice_view* value,
                                            backslice_ints lengths, void (*release)(void* user), void* user,
                                            const backslice_context* context) {
  return write_shared(array, value, release, user, context, in_runs(lengths));
}
