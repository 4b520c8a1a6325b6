// Tensor: a Buffer with a View into it. What the operations return when the caller gives no output of their own.
#pragma once

#include <cstddef>
#include <memory>

#include "backslice/allocator.h"
#include "backslice/view.h"

namespace backslice {

class BACKSLICE_EXPORT Tensor {
 public:
  // A contiguous tensor; strings are always empty. `item_size` is for DType::Bytes only.
  static Result<Tensor> make(DType dtype, const Shape& shape, std::int64_t item_size = 0,
                             Contents contents = Contents::Uninitialised, Allocator& allocator = pool_allocator());

  // Part of a buffer, in any layout. Precondition: the view lies within it.
  static Tensor of(Buffer buffer, View view) { return Tensor(std::move(buffer), std::move(view)); }

  View view() { return view_; }
  ConstView view() const { return view_; }
  const Shape& shape() const { return view_.shape(); }
  const std::byte* data() const { return view_.data; }
  DType dtype() const { return view_.dtype; }
  const Buffer& buffer() const { return buffer_; }

  // The elements in row-major order. Precondition: T has the size of an element.
  template <class T>
  std::span<T> elements() {
    assert(sizeof(T) == static_cast<std::size_t>(view_.layout.item_size));
    return {reinterpret_cast<T*>(view_.data), static_cast<std::size_t>(view_.elements())};
  }

 private:
  Tensor(Buffer buffer, View view) : buffer_(std::move(buffer)), view_(std::move(view)) {}

  Buffer buffer_;
  View view_;
};

}  // namespace backslice
