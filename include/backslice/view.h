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
#include "backslice/shape.h"

namespace backslice {

/// Where elements lie, relative to the first: element (i, j, ...) starts at i*strides[0] + j*strides[1] + ... bytes.
/// Made by the functions below, or View's, the span of its elements fits int64_t; the operations refuse any other that
/// was put together by hand.
struct Layout {
  Shape shape;
  Dims strides;                ///< In bytes, one per axis.
  std::int64_t item_size = 0;  ///< Bytes per element.

  friend bool operator==(const Layout&, const Layout&) = default;
};

/// The row-major layout without gaps. Precondition: the total size in bytes fits int64_t.
BACKSLICE_EXPORT Layout contiguous_layout(const Shape& shape, std::int64_t item_size);

/// The size in bytes of `shape` without gaps, or ResourceExhausted when it does not fit int64_t.
BACKSLICE_EXPORT Result<std::int64_t> size_in_bytes(const Shape& shape, std::int64_t item_size);

/// `item_size` is needed for DType::Bytes only.
BACKSLICE_EXPORT Result<Layout> make_contiguous_layout(DType dtype, Ints shape, std::int64_t item_size = 0);

/// Strides of any value; refused when the elements would span more bytes than int64_t can count. Without elements the
/// strides mean nothing, and the layout is a contiguous one.
BACKSLICE_EXPORT Result<Layout> make_strided_layout(DType dtype, Ints shape, Ints byte_strides,
                                                    std::int64_t item_size = 0);

/// Whether a layout is as these functions make it, for elements of that dtype.
BACKSLICE_EXPORT bool is_valid(const Layout& layout, DType dtype);

/// Whether the elements lie one after the other, in row-major order and without gaps.
BACKSLICE_EXPORT bool is_contiguous(const Layout& layout);

namespace detail {

/// make_contiguous_layout of a shape that was checked before.
BACKSLICE_EXPORT Result<Layout> contiguous_layout_of(DType dtype, const Shape& shape, std::int64_t item_size);

/// make_strided_layout with strides in elements.
BACKSLICE_EXPORT Result<Layout> layout_of_elements(DType dtype, Ints shape, Ints strides, std::size_t item_size);

/// The error about a span that has none.
BACKSLICE_EXPORT Status without_strides();

/// A contiguous layout of `shape`, if that has exactly `count` elements.
BACKSLICE_EXPORT Result<Layout> layout_of_memory(std::size_t count, DType dtype, Ints shape, std::size_t item_size);

/// Whether elements of that type, size and alignment can be read by the CPU, one after the other.
BACKSLICE_EXPORT Status check_elements(const void* data, DType dtype, const Layout& layout, Device device, DType wanted,
                                       std::size_t item_size, std::size_t alignment);

/// std::mdspan, or a class with its members, whose elements are plain memory.
template <class Span>
concept StridedSpan = requires(const Span& span) {
  typename Span::element_type;
  requires ElementType<typename Span::element_type>;
  requires std::same_as<typename Span::reference, typename Span::element_type&>;
  { span.data_handle() } -> std::convertible_to<typename Span::element_type*>;
  { span.extent(0) } -> std::convertible_to<std::int64_t>;
  requires Span::rank() == 0 || requires {
    { span.mapping().stride(0) } -> std::convertible_to<std::int64_t>;
  };
  { span.is_strided() } -> std::convertible_to<bool>;
};

/// The layout of such a span. InvalidArgument where its elements have no strides.
template <StridedSpan Span>
Result<Layout> layout_of_span(const Span& span) {
  constexpr std::size_t kRank = Span::rank();
  static_assert(kRank <= kMaxRank, "a tensor has at most 32 axes");
  if (!span.is_strided()) return without_strides();
  std::int64_t shape[kRank + 1], strides[kRank + 1];  // not of size 0
  for (std::size_t axis = 0; axis < kRank; ++axis) {
    shape[axis] = static_cast<std::int64_t>(span.extent(axis));
    if constexpr (kRank > 0) strides[axis] = static_cast<std::int64_t>(span.mapping().stride(axis));
  }
  using T = typename Span::element_type;
  return layout_of_elements(dtype_of<T>, {shape, kRank}, {strides, kRank}, sizeof(T));
}

}  // namespace detail

/// View where the elements may be written, ConstView where they may not.
template <class Byte, class Void>
struct BasicView {
  Byte* data = nullptr;
  DType dtype = DType::Float32;
  Layout layout;
  Device device = {};  ///< Where the memory is.

  /// `T` as the elements of this kind of view have it.
  template <class T>
  using Qualified = std::conditional_t<std::is_const_v<Byte>, const T, T>;

  /// Of a vector, an array or a span that holds exactly the elements of `shape`, in row-major order. The dtype is
  /// dtype_of the elements.
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
  static Result<BasicView> of(const Memory&& temporary, Ints shape) = delete;

  /// Of a std::mdspan, with its shape and strides.
  template <detail::StridedSpan Span>
    requires std::convertible_to<typename Span::element_type*, Void*>
  static Result<BasicView> of(const Span& span) {
    return with_layout(span.data_handle(), dtype_of<typename Span::element_type>, detail::layout_of_span(span));
  }

  /// Of elements without gaps, from the first one on. The dtype is dtype_of the elements.
  template <ElementType T>
    requires std::convertible_to<T*, Void*>
  static Result<BasicView> contiguous(T* data, Ints shape, Device device = {}) {
    return with_layout(data, dtype_of<T>,
                       make_contiguous_layout(dtype_of<T>, shape, static_cast<std::int64_t>(sizeof(T))), device);
  }

  /// Of elements with strides of any value, which count elements, as those of std::mdspan and libtorch do.
  template <ElementType T>
    requires std::convertible_to<T*, Void*>
  static Result<BasicView> strided(T* data, Ints shape, Ints strides, Device device = {}) {
    return with_layout(data, dtype_of<T>, detail::layout_of_elements(dtype_of<T>, shape, strides, sizeof(T)), device);
  }

  /// Of memory without gaps. `item_size` is needed for DType::Bytes only.
  static Result<BasicView> contiguous(Void* data, DType dtype, Ints shape, std::int64_t item_size = 0,
                                      Device device = {}) {
    return with_layout(data, dtype, make_contiguous_layout(dtype, shape, item_size), device);
  }

  /// Of memory with byte strides of any value, from the first element on.
  static Result<BasicView> strided(Void* data, DType dtype, Ints shape, Ints byte_strides, std::int64_t item_size = 0,
                                   Device device = {}) {
    return with_layout(data, dtype, make_strided_layout(dtype, shape, byte_strides, item_size), device);
  }

  /// Strides beside a DType are bytes, which is easily overlooked where the pointer has a type.
  template <ElementType T>
    requires(sizeof(T) > 1 && std::convertible_to<T*, Void*>)
  [[deprecated(
      "these strides are bytes: use strided(data, shape, strides), whose strides are elements, or pass a void*; "
      "removed in 0.5")]]
  static Result<BasicView> strided(T* data, DType dtype, Ints shape, Ints byte_strides, std::int64_t item_size = 0,
                                   Device device = {}) {
    return strided(static_cast<Void*>(data), dtype, shape, byte_strides, item_size, device);
  }

  const Shape& shape() const& BACKSLICE_LIFETIME_BOUND { return layout.shape; }
  Shape shape() const&& { return layout.shape; }

  /// How many elements there are.
  std::int64_t elements() const { return layout.shape.elements(); }

  /// The elements in row-major order. InvalidArgument where T is not the type of the elements, or where they do not lie
  /// one after the other; Unimplemented where they are not in the CPU's memory.
  template <ElementType T>
  Result<std::span<Qualified<T>>> elements() const {
    Status usable = detail::check_elements(data, dtype, layout, device, dtype_of<T>, sizeof(T), alignof(T));
    if (!usable.ok()) return usable;
    return std::span<Qualified<T>>(reinterpret_cast<Qualified<T>*>(data), static_cast<std::size_t>(elements()));
  }

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
