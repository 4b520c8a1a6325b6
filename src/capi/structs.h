// The structs of C that begin with their size, and may grow at their end.
//
// One rule for all: a struct may be as short as in the first header that had it; missing fields get the defaults of its
// BACKSLICE_..._INIT. It may not be longer than the library knows. In a list, all have the size of the first.
#pragma once

#include <cstddef>
#include <cstring>

#include "backslice/c/backslice.h"
#include "capi/arguments.h"

namespace backslice::capi {

// The length of a struct that ends with this field.
template <class T>
constexpr std::size_t size_up_to(std::size_t offset, std::size_t field_size) {
  return (offset + field_size + alignof(T) - 1) / alignof(T) * alignof(T);
}

// The size of a struct in its first header, and its defaults. A new field changes only the defaults.
template <class T>
struct FirstHeader;
template <>
struct FirstHeader<backslice_view> {
  static constexpr std::size_t kSize = size_up_to<backslice_view>(offsetof(backslice_view, device_id), 4);
  static constexpr backslice_view kDefaults = BACKSLICE_VIEW_INIT;
};
template <>
struct FirstHeader<backslice_executor> {
  static constexpr std::size_t kSize = size_up_to<backslice_executor>(offsetof(backslice_executor, run), 8);
  static constexpr backslice_executor kDefaults = BACKSLICE_EXECUTOR_INIT;
};
template <>
struct FirstHeader<backslice_allocator> {
  static constexpr std::size_t kSize =
      size_up_to<backslice_allocator>(offsetof(backslice_allocator, has_free_zeros), 4);
  static constexpr backslice_allocator kDefaults = BACKSLICE_ALLOCATOR_INIT;
};
template <>
struct FirstHeader<backslice_context> {
  static constexpr std::size_t kSize = size_up_to<backslice_context>(offsetof(backslice_context, device_id), 4);
  static constexpr backslice_context kDefaults = BACKSLICE_CONTEXT_INIT;
};
template <>
struct FirstHeader<backslice_tf_slice> {
  static constexpr std::size_t kSize =
      size_up_to<backslice_tf_slice>(offsetof(backslice_tf_slice, shrink_axis_mask), 4);
  static constexpr backslice_tf_slice kDefaults = BACKSLICE_TF_SLICE_INIT;
};
template <>
struct FirstHeader<backslice_onnx_slice> {
  static constexpr std::size_t kSize =
      size_up_to<backslice_onnx_slice>(offsetof(backslice_onnx_slice, steps), sizeof(backslice_ints));
  static constexpr backslice_onnx_slice kDefaults = BACKSLICE_ONNX_SLICE_INIT;
};
template <>
struct FirstHeader<backslice_coo_indices> {
  static constexpr std::size_t kSize =
      size_up_to<backslice_coo_indices>(offsetof(backslice_coo_indices, is_columns), 4);
  static constexpr backslice_coo_indices kDefaults = BACKSLICE_COO_INDICES_INIT;
};
template <>
struct FirstHeader<backslice_ragged_size> {
  static constexpr std::size_t kSize =
      size_up_to<backslice_ragged_size>(offsetof(backslice_ragged_size, splits_dtype), 4);
  static constexpr backslice_ragged_size kDefaults = BACKSLICE_RAGGED_SIZE_INIT;
};
template <>
struct FirstHeader<backslice_variant_types> {
  static constexpr std::size_t kSize =
      size_up_to<backslice_variant_types>(offsetof(backslice_variant_types, item_size), 8);
  static constexpr backslice_variant_types kDefaults = BACKSLICE_VARIANT_TYPES_INIT;
};
template <>
struct FirstHeader<backslice_tensor_array_options> {
  static constexpr std::size_t kSize =
      size_up_to<backslice_tensor_array_options>(offsetof(backslice_tensor_array_options, item_size), 8);
  static constexpr backslice_tensor_array_options kDefaults = BACKSLICE_TENSOR_ARRAY_OPTIONS_INIT;
};

[[noreturn]] void refuse_struct_size(const Argument& argument, std::size_t found, std::size_t expected);

template <class T>
constexpr bool is_size_of(std::size_t size) {
  return size >= FirstHeader<T>::kSize && size <= sizeof(T) && size % alignof(T) == 0;
}

// Returns the program's struct, with defaults for the fields that its header did not have.
template <class T>
T given_struct(const T* pointer, const Argument& argument) {
  const T& given = not_null(pointer, argument);
  const std::size_t size = given.struct_size;
  if (size == sizeof(T)) [[likely]]
    return given;
  if (!is_size_of<T>(size)) refuse_struct_size(argument, size, sizeof(T));
  T filled = FirstHeader<T>::kDefaults;
  std::memcpy(&filled, pointer, size);
  return filled;
}

// The same, without a copy if the program's struct is complete; otherwise it is made in `filled`.
template <class T>
const T& given_struct(const T* pointer, const Argument& argument, T& filled) {
  const T& given = not_null(pointer, argument);
  if (given.struct_size == sizeof(T)) [[likely]]
    return given;
  return filled = given_struct(pointer, argument);
}

// Fills in a result struct, up to the size that the program's header has.
template <class T>
class StructOut {
 public:
  StructOut(T* pointer, const Argument& argument) : pointer_(pointer), value_(given_struct(pointer, argument)) {}
  T& operator*() { return value_; }
  Status give() const {
    std::memcpy(pointer_, &value_, value_.struct_size);
    return Status();
  }

 private:
  T* pointer_;
  T value_;
};

// Returns an element of a list, whose elements have the size of the first. (The first may be one that is not read, and
// so not initialised.)
template <class T>
const T* element(const T* list, std::int64_t i) {
  const std::size_t size = i > 0 && is_size_of<T>(list->struct_size) ? list->struct_size : sizeof(T);
  return reinterpret_cast<const T*>(reinterpret_cast<const std::byte*>(list) + static_cast<std::size_t>(i) * size);
}

}  // namespace backslice::capi
