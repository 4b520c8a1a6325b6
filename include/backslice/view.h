/// @file
/// View and ConstView: tensors in borrowed memory.
///
/// A view is a pointer to the first element, an element type and a Layout: extents and byte strides. Strides of an
/// input may be anything (zero, negative, unaligned); an output must not overlap itself.
///
///     std::vector<float> data(6);
///     Result<View> rows = View::of(data, {2, 3});       // refused unless data has exactly 6 elements
///     if (!rows) return rows.status();
///     // rows->layout: shape [2,3], strides [12,4]
///     Result<View> columns = View::strided(data.data(), {3, 2}, {1, 3});       // the transpose: strides in elements
///
/// Nothing keeps the memory alive: a view must not outlive what it was made from. Views are made of everything that
/// holds elements one after the other (vectors, arrays, spans); of a std::mdspan; of a pointer where only that is
/// known; and of every Tensor, which converts to them. Strides are in elements where the pointer has their type, and in
/// bytes beside a DType.
#pragma once

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <span>
#include <type_traits>

#include "backslice/device.h"
#include "backslice/dtype.h"
#include "backslice/dtype_of.h"
#include "backslice/layout.h"
#include "backslice/shape.h"

namespace backslice {

namespace detail {

/// Whether elements of that type, size and alignment can be read by the CPU, one after the other.
BACKSLICE_EXPORT Status check_elements(const void* data, DType dtype, const Layout& layout, Device device, DType wanted,
                                       std::size_t item_size, std::size_t alignment);

}  // namespace detail

/// View if the elements may be written, ConstView if not.
template <class Byte, class Void>
struct BasicView {
  Byte* data = nullptr;
  DType dtype = DType::Float32;
  Layout layout;
  Device device = {};  ///< Where the memory is.

  /// `T` as the elements of this kind of view have it.
  template <class T>
  using Qualified = std::conditional_t<std::is_const_v<Byte>, const T, T>;

  /// Makes a view of a vector, an array or a span with exactly the elements of `shape`, in row-major order. The dtype
  /// is dtype_of the elements.
  template <ElementType T, std::size_t extent>
    requires std::convertible_to<T*, Void*>
  static Result<BasicView> of(std::span<T, extent> memory, Ints shape) {
    return with_layout(memory.data(), dtype_of<T>,
                       detail::layout_of_memory(memory.size(), dtype_of<T>, shape, sizeof(T)));
  }
  template <class Memory>
    requires requires(Memory& memory) { BasicView::of(std::span(memory), Ints()); }
  static Result<BasicView> of(Memory& memory, Ints shape) {
    return of(std::span(memory), shape);
  }
  template <class Memory>
    requires(!requires(Memory& memory) { BasicView::of(std::span(memory), Ints()); })
  static Result<BasicView> of(Memory& memory,
                              Ints shape) = delete;  // contiguous elements with a dtype; not const in View
  template <class Memory>
  static Result<BasicView> of(const Memory&& temporary, Ints shape) = delete;  // keep the memory in a variable

  /// Makes a view of a std::mdspan, with its shape and strides.
  template <detail::StridedSpan Span>
    requires std::convertible_to<typename Span::element_type*, Void*>
  static Result<BasicView> of(const Span& span) {
    return with_layout(span.data_handle(), dtype_of<typename Span::element_type>, detail::layout_of_span(span));
  }

  /// Makes a view of contiguous elements, from the first one on. The dtype is dtype_of the elements.
  template <ElementType T>
    requires std::convertible_to<T*, Void*>
  static Result<BasicView> contiguous(T* data, Ints shape, Device device = {}) {
    return with_layout(data, dtype_of<T>,
                       make_contiguous_layout(dtype_of<T>, shape, static_cast<std::int64_t>(sizeof(T))), device);
  }

  /// Makes a view of elements with strides of any value, which count elements, like those of std::mdspan and libtorch.
  /// Dims::make converts strides of other integer types.
  template <ElementType T>
    requires std::convertible_to<T*, Void*>
  static Result<BasicView> strided(T* data, Ints shape, Ints strides, Device device = {}) {
    return with_layout(data, dtype_of<T>, detail::layout_of_elements(dtype_of<T>, shape, strides, sizeof(T)), device);
  }

  template <class T>
    requires(!ElementType<T>)
  static Result<BasicView> contiguous(T* data, Ints shape, Device device = {}) = delete;  // T has no DTypeOf<T>
  template <class T>
    requires(!ElementType<T>)
  static Result<BasicView> strided(T* data, Ints shape, Ints strides, Device device = {}) = delete;  // no DTypeOf<T>

  /// Makes a view of contiguous memory. `item_size` is needed for DType::Bytes only.
  static Result<BasicView> contiguous(Void* data, DType dtype, Ints shape, std::int64_t item_size = kItemSizeOfDType,
                                      Device device = {}) {
    return with_layout(data, dtype, make_contiguous_layout(dtype, shape, item_size), device);
  }

  /// Makes a view of memory with byte strides of any value, from the first element on.
  static Result<BasicView> strided(Void* data, DType dtype, Ints shape, Ints byte_strides,
                                   std::int64_t item_size = kItemSizeOfDType, Device device = {}) {
    return with_layout(data, dtype, make_strided_layout(dtype, shape, byte_strides, item_size), device);
  }

  /// Strides beside a DType are bytes, which is easily overlooked if the pointer has a type.
  template <ElementType T>
    requires(sizeof(T) > 1 && std::convertible_to<T*, Void*>)
  [[deprecated(
      "these strides are bytes: use strided(data, shape, strides), whose strides are elements, or pass a void*; "
      "removed in 0.5")]]
  static Result<BasicView> strided(T* data, DType dtype, Ints shape, Ints byte_strides,
                                   std::int64_t item_size = kItemSizeOfDType, Device device = {}) {
    return strided(static_cast<Void*>(data), dtype, shape, byte_strides, item_size, device);
  }

  const Shape& shape() const& BACKSLICE_LIFETIME_BOUND { return layout.shape; }
  Shape shape() const&& { return layout.shape; }

  /// How many elements there are.
  std::int64_t elements() const { return layout.shape.elements(); }

  /// The elements in row-major order. InvalidArgument if T is not the type of the elements, or if they are not
  /// contiguous; Unimplemented if they are not in the CPU's memory.
  template <ElementType T>
  Result<std::span<Qualified<T>>> elements() const {
    Status usable = detail::check_elements(data, dtype, layout, device, dtype_of<T>, sizeof(T), alignof(T));
    if (!usable.ok()) return usable;
    return std::span<Qualified<T>>(reinterpret_cast<Qualified<T>*>(data), static_cast<std::size_t>(elements()));
  }

  template <class T>
    requires(!ElementType<T>)
  void elements() const = delete;  // T has no DTypeOf<T>

  operator BasicView<const std::byte, const void>() const
    requires(!std::is_const_v<Byte>)
  {
    return {data, dtype, layout, device};
  }

 private:
  static Result<BasicView> with_layout(Void* data, DType dtype, Result<Layout> layout, Device device = {}) {
    if (!layout.ok()) return std::move(layout).status();
    return BasicView{static_cast<Byte*>(data), dtype, *layout, device};
  }
};

using View = BasicView<std::byte, void>;
using ConstView = BasicView<const std::byte, const void>;

}  // namespace backslice
