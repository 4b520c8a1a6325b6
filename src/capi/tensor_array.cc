// Tensor arrays: construction, gradients and properties.
#include "backslice/tensor_array.h"

#include "backslice/c/tensor_array.h"
#include "capi/context.h"
#include "capi/handles.h"
#include "capi/structs.h"

using namespace backslice;
using namespace backslice::capi;

namespace {

// Places elements on the context's device.
TensorArrayOptions options_of(const backslice_tensor_array_options* options, Device device) {
  if (options == nullptr) return {.device = device};
  const backslice_tensor_array_options given = given_struct(options, "options");
  return {.element_shape = partial_shape_of(given.element_shape, "element_shape"),
          .dynamic_size = flag_of(given.dynamic_size, "dynamic_size"),
          .clear_after_read = flag_of(given.clear_after_read, "clear_after_read"),
          .identical_element_shapes = flag_of(given.identical_element_shapes, "identical_element_shapes"),
          .contiguous = flag_of(given.contiguous, "contiguous"),
          .name = std::string(text_of(given.name, "name")),
          .item_size = item_size_from(given.item_size),
          .device = device,
          .any_device = flag_of(given.any_device, "any_device")};
}

// Returns one property of an array.
template <class T, class Ask>
int32_t ask(const backslice_tensor_array* array, T* out, const char* argument, const Ask& of) {
  return guarded([&] {
    not_null(out, argument) = of(get(array, "array"));
    return Status();
  });
}

}  // namespace

int32_t backslice_tensor_array_make(int64_t size, int32_t dtype, const backslice_tensor_array_options* options,
                                    const backslice_context* context, backslice_tensor_array** out) {
  return guarded([&] {
    not_null(out, "out");
    const CallContext call(context);
    const TensorArrayOptions made = options_of(options, call.device());
    return give(out, unwrap(TensorArray::make(size, dtype_from(dtype, "dtype"), made, call)));
  });
}

int32_t backslice_tensor_array_grad(backslice_tensor_array* array, backslice_string source,
                                    const backslice_context* context, backslice_tensor_array** out) {
  return backslice_tensor_array_grad_with_shape(array, source, {nullptr, 0}, context, out);
}

int32_t backslice_tensor_array_grad_with_shape(backslice_tensor_array* array, backslice_string source,
                                               backslice_ints shape_to_prepend, const backslice_context* context,
                                               backslice_tensor_array** out) {
  return guarded([&] {
    not_null(out, "out");
    const CallContext call(context);
    const std::string name(text_of(source, "source"));
    return give(out,
                unwrap(get(array, "array").grad_with_shape(name, ints_of(shape_to_prepend, "shape_to_prepend"), call)));
  });
}

int32_t backslice_tensor_array_find_grad(const backslice_tensor_array* array, backslice_string source,
                                         backslice_tensor_array** out) {
  return guarded([&] {
    not_null(out, "out");
    const auto found = unwrap(get(array, "array").find_grad(text_of(source, "source")));
    if (found) return give(out, *found);
    *out = nullptr;
    return Status();
  });
}

int32_t backslice_tensor_array_size(const backslice_tensor_array* array, int64_t* size) {
  return ask(array, size, "size", [](const TensorArray& of) { return unwrap(of.size()); });
}

int32_t backslice_tensor_array_name(const backslice_tensor_array* array, backslice_string* name) {
  return ask(array, name, "name",
             [](const TensorArray& of) { return backslice_string{of.name().data(), std::ssize(of.name())}; });
}

int32_t backslice_tensor_array_dtype(const backslice_tensor_array* array, int32_t* dtype) {
  return ask(array, dtype, "dtype", [](const TensorArray& of) { return static_cast<int32_t>(of.dtype()); });
}

int32_t backslice_tensor_array_element_shape(const backslice_tensor_array* array, int64_t shape[BACKSLICE_MAX_RANK],
                                             int32_t* rank) {
  return guarded([&] {
    const ShapeOut out(shape, "shape", rank, "rank");
    const PartialShape known = unwrap(get(array, "array").element_shape());
    if (known.has_rank()) return out.set(known.dims());
    *rank = -1;
    return Status();
  });
}

int32_t backslice_tensor_array_device(const backslice_tensor_array* array, int32_t* device_type, int32_t* device_id) {
  return guarded([&] {
    not_null(device_type, "device_type");
    not_null(device_id, "device_id");
    set_device(*device_type, *device_id, get(array, "array").device());
    return Status();
  });
}

int32_t backslice_tensor_array_is_gradient(const backslice_tensor_array* array, int32_t* is_gradient) {
  return ask(array, is_gradient, "is_gradient", [](const TensorArray& of) { return of.is_gradient() ? 1 : 0; });
}

int32_t backslice_tensor_array_is_closed(const backslice_tensor_array* array, int32_t* is_closed) {
  return ask(array, is_closed, "is_closed", [](const TensorArray& of) { return unwrap(of.is_closed()) ? 1 : 0; });
}

int32_t backslice_tensor_array_close(backslice_tensor_array* array) {
  return guarded([&] { return get(array, "array").close(); });
}
