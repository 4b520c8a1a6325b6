// View and ConstView: tensors that somebody else owns.
//
// A view is a pointer to the first element, an element type and a Layout: extents and byte strides. Strides may be
// anything for an input (zero, negative, unaligned); an output must not overlap itself.
//
//     float data[6];
//     View rows = *View::contiguous(data, DType::Float32, {2, 3});
//     // rows.layout: shape [2,3], strides [12,4]
#pragma once

#include <cstddef>
#include <cstdint>
#include <type_traits>

#include "backslice/dtype.h"
#include "backslice/shape.h"

namespace backslice {

// Where elements lie, relative to the first: element (i, j, ...) starts at i*strides[0] + j*strides[1] + ... bytes.
// Made by the functions below, or View's, the span of its elements fits int64_t; the operations refuse any other that
// was put together by hand.
struct Layout {
  Shape shape;
  Dims strides;                // in bytes, one per axis
  std::int64_t item_size = 0;  // bytes per element

  friend bool operator==(const Layout&, const Layout&) = default;
};

// The row-major layout without gaps. Precondition: the total size in bytes fits int64_t.
BACKSLICE_EXPORT Layout contiguous_layout(const Shape& shape, std::int64_t item_size);

// The size in bytes of `shape` without gaps, or ResourceExhausted when it does not fit int64_t.
BACKSLICE_EXPORT Result<std::int64_t> size_in_bytes(const Shape& shape, std::int64_t item_size);

// `item_size` is needed for DType::Bytes only. A Shape is not checked again.
BACKSLICE_EXPORT Result<Layout> make_contiguous_layout(DType dtype, Ints shape, std::int64_t item_size);
BACKSLICE_EXPORT Result<Layout> make_contiguous_layout(DType dtype, const Shape& shape, std::int64_t item_size);

// Strides of any value; refused when the elements would span more than int64_t counts. Without elements the strides
// mean nothing, and the layout is a contiguous one.
BACKSLICE_EXPORT Result<Layout> make_strided_layout(DType dtype, Ints shape, Ints strides, std::int64_t item_size);

// Whether a layout is as these functions make it, for elements of that dtype.
BACKSLICE_EXPORT bool is_valid(const Layout& layout, DType dtype);

template <class Byte, class Void>
struct BasicView {
  Byte* data = nullptr;
  DType dtype = DType::Float32;
  Layout layout;

  // Of memory without gaps, or with byte strides of any value, as the functions above make their layouts.
  static Result<BasicView> contiguous(Void* data, DType dtype, Ints shape, std::int64_t item_size = 0) {
    return with_layout(data, dtype, make_contiguous_layout(dtype, shape, item_size));
  }
  static Result<BasicView> strided(Void* data, DType dtype, Ints shape, Ints byte_strides, std::int64_t item_size = 0) {
    return with_layout(data, dtype, make_strided_layout(dtype, shape, byte_strides, item_size));
  }

  const Shape& shape() const { return layout.shape; }
  std::int64_t elements() const { return layout.shape.elements(); }

  operator BasicView<const std::byte, const void>() const
    requires(!std::is_const_v<Byte>)
  {
    return {data, dtype, layout};
  }

 private:
  static Result<BasicView> with_layout(Void* data, DType dtype, Result<Layout> layout) {
    if (!layout.ok()) return std::move(layout).status();
    return BasicView{static_cast<Byte*>(data), dtype, *layout};
  }
};

using View = BasicView<std::byte, void>;
using ConstView = BasicView<const std::byte, const void>;

}  // namespace backslice
