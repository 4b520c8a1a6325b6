/// @file
/// Layout: where the elements of a tensor lie, as a value without the memory.
///
/// Views hold one, and most callers let View make it. On its own it describes tensors that do not exist yet: a
/// PreparedSlice is made for the layouts of its tensors.
///
///     Result<Layout> rows = make_contiguous_layout(DType::Float32, {2, 3});              // strides [12,4]
///     Result<Layout> columns = make_strided_layout(DType::Float32, {3, 2}, {4, 12});     // its transpose
#pragma once

#include <concepts>
#include <cstddef>
#include <cstdint>

#include "backslice/dtype.h"
#include "backslice/dtype_of.h"
#include "backslice/shape.h"

namespace backslice {

/// The positions of elements, relative to the first: element (i, j, ...) starts at i*strides[0] + j*strides[1] + ...
/// bytes. In a Layout made by the functions below or by View's, the span of the elements fits int64_t; operations
/// refuse all others.
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
BACKSLICE_EXPORT Result<Layout> make_contiguous_layout(DType dtype, Ints shape,
                                                       std::int64_t item_size = kItemSizeOfDType);

/// Strides may have any value, unless the elements span more bytes than int64_t can count. Without elements the strides
/// mean nothing, and the layout is contiguous.
BACKSLICE_EXPORT Result<Layout> make_strided_layout(DType dtype, Ints shape, Ints byte_strides,
                                                    std::int64_t item_size = kItemSizeOfDType);

/// Whether a layout is as these functions make it, for elements of that dtype.
BACKSLICE_EXPORT bool is_valid(const Layout& layout, DType dtype);

/// Whether the elements are in row-major order without gaps.
BACKSLICE_EXPORT bool is_contiguous(const Layout& layout);

namespace detail {

/// Gives a layout with a shape the strides of contiguous_layout, in place.
void make_contiguous(Layout& layout, std::int64_t item_size);

/// make_contiguous_layout of a shape that was checked before.
BACKSLICE_EXPORT Result<Layout> contiguous_layout_of(DType dtype, const Shape& shape, std::int64_t item_size);

/// make_strided_layout with strides in elements.
BACKSLICE_EXPORT Result<Layout> layout_of_elements(DType dtype, Ints shape, Ints strides, std::size_t item_size);

/// The error about a span that has none.
BACKSLICE_EXPORT Status without_strides();

/// A contiguous layout of `shape`, if that has exactly `count` elements.
BACKSLICE_EXPORT Result<Layout> layout_of_memory(std::size_t count, DType dtype, Ints shape, std::size_t item_size);

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

/// Returns the layout of such a span. InvalidArgument if its elements have no strides.
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

}  // namespace backslice
