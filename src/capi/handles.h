// Handles: C++ values behind C pointers. Each stores its kind, so a handle of the wrong kind is an error. Builds with
// assertions also list all live handles, so that a freed handle is an error too.
#pragma once

#include <memory>

#include "backslice/c/base.h"
#include "backslice/grad_buffer.h"
#include "backslice/prepared_slice.h"
#include "backslice/tensor_array.h"
#include "backslice/variant_array.h"
#include "capi/arguments.h"

namespace backslice::capi {

// Numbers that other memory is unlikely to contain.
enum class Kind : std::uint64_t {
  Ended = 0x62616b73'64656164,
  Selection = 0x62616b73'00000001,
  PreparedSlice,
  GradBuffer,
  Ragged,
  VariantArray,
  TensorArray,
  Buffer,
};

// The beginning of every handle. A pointer in C is always a pointer to this.
struct HandleBase {
  explicit HandleBase(Kind own);
  HandleBase(const HandleBase&) = delete;
  virtual ~HandleBase();
  Kind kind;
};

template <class T>
struct Handle final : HandleBase {
  Handle(Kind own, T given) : HandleBase(own), value(std::move(given)) {}
  T value;
};

// Maps each C type to its C++ value.
template <class T, Kind kOwn>
struct Behind {
  using Value = T;
  static constexpr Kind kKind = kOwn;
};
template <class C>
struct HandleOf;
template <>
struct HandleOf<backslice_buffer> : Behind<Buffer, Kind::Buffer> {};
template <>
struct HandleOf<backslice_selection> : Behind<Selection, Kind::Selection> {};
template <>
struct HandleOf<backslice_prepared_slice> : Behind<PreparedSlice, Kind::PreparedSlice> {};
template <>
struct HandleOf<backslice_grad_buffer> : Behind<GradBuffer, Kind::GradBuffer> {};
template <>
struct HandleOf<backslice_ragged> : Behind<RaggedTensor, Kind::Ragged> {};
template <>
struct HandleOf<backslice_variant_array> : Behind<VariantArray, Kind::VariantArray> {};
template <>
struct HandleOf<backslice_tensor_array> : Behind<TensorArray, Kind::TensorArray> {};

// Ends the call if this is detectably not a handle of that kind.
void check_handle(const void* handle, Kind kind, const Argument& argument);

// The value behind a handle.
template <class C>
const auto& get(const C* handle, const Argument& argument) {
  check_handle(handle, HandleOf<C>::kKind, argument);
  const auto* base = reinterpret_cast<const HandleBase*>(handle);
  return static_cast<const Handle<typename HandleOf<C>::Value>*>(base)->value;
}
template <class C>
auto& get(C* handle, const Argument& argument) {
  return const_cast<typename HandleOf<C>::Value&>(get(static_cast<const C*>(handle), argument));
}

// Makes a handle, which is freed unless it is given to C.
template <class C>
std::unique_ptr<HandleBase> new_handle(typename HandleOf<C>::Value value) {
  return std::make_unique<Handle<typename HandleOf<C>::Value>>(HandleOf<C>::kKind, std::move(value));
}

template <class C>
void give(C** out, std::unique_ptr<HandleBase> handle) noexcept {
  *out = reinterpret_cast<C*>(handle.release());
}

template <class C>
Status give(C** out, typename HandleOf<C>::Value value) {
  give(out, new_handle<C>(std::move(value)));
  return Status();
}

}  // namespace backslice::capi
