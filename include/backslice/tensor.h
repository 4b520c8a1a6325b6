/// @file
/// Tensor: a Buffer with a View into it. What the operations return when the caller gives them no output.
///
///     Result<Tensor> zeros = Tensor::zeros(DType::Float32, {2, 3});
///     Result<Tensor> ones = Tensor::copy_of({1.0f, 1.0f, 1.0f}, {3});
///     if (!ones) return ones.status();
///     Result<std::span<float>> values = ones->elements<float>();      // refused unless these are floats
///
/// Copies of a Tensor share its memory, which goes with the last of them. A Tensor is taken wherever a View or a
/// ConstView is; a view that is kept must not outlive it.
#pragma once

#include <concepts>
#include <cstddef>
#include <initializer_list>
#include <memory>
#include <span>
#include <utility>

#include "backslice/allocator.h"
#include "backslice/view.h"

namespace backslice {

/// Shared memory, and the layout of a tensor in it.
class BACKSLICE_EXPORT Tensor {
 public:
  /// A contiguous tensor; strings are always empty. `item_size` is needed for DType::Bytes only. A Shape is not checked
  /// again.
  static Result<Tensor> make(DType dtype, Ints shape, std::int64_t item_size = kItemSizeOfDType,
                             Contents contents = Contents::Uninitialised, Allocator& allocator = pool_allocator());
  template <std::same_as<Shape> Checked>
  static Result<Tensor> make(DType dtype, const Checked& shape, std::int64_t item_size = kItemSizeOfDType,
                             Contents contents = Contents::Uninitialised, Allocator& allocator = pool_allocator()) {
    return make_of_shape(dtype, shape, item_size, contents, allocator);
  }

  /// A contiguous tensor of zeros; of empty strings. For DType::Bytes, which need an item size, there is make().
  static Result<Tensor> zeros(DType dtype, Ints shape, Allocator& allocator = pool_allocator());

  /// Returns a contiguous tensor with the elements of a vector, an array, a span or braces, which must be exactly those
  /// of `shape`.
  template <class Memory>
    requires requires(const Memory& memory) { ConstView::of(memory, Ints()); }
  static Result<Tensor> copy_of(const Memory& memory, Ints shape, Allocator& allocator = pool_allocator()) {
    return ConstView::of(memory, shape).and_then([&](const ConstView& view) {
      return copy_contiguous(view, allocator);
    });
  }
  template <ElementType T>
  static Result<Tensor> copy_of(std::initializer_list<T> list, Ints shape, Allocator& allocator = pool_allocator()) {
    return copy_of(std::span(list.begin(), list.size()), shape, allocator);
  }

  /// Makes a tensor of a part of a buffer, in any layout. Precondition: the view lies within it.
  static Tensor of(Buffer buffer, View view) { return Tensor(std::move(buffer), std::move(view)); }

  /// Not of a temporary, with which the memory may go. As an argument, which lives until the call returns, a temporary
  /// converts to a ConstView.
  View view() & BACKSLICE_LIFETIME_BOUND { return view_; }
  ConstView view() const& BACKSLICE_LIFETIME_BOUND { return view_; }
  void view() const&& = delete;
  operator View() & BACKSLICE_LIFETIME_BOUND { return view_; }
  operator ConstView() const BACKSLICE_LIFETIME_BOUND { return view_; }

  const Shape& shape() const& BACKSLICE_LIFETIME_BOUND { return view_.layout.shape; }
  Shape shape() const&& { return view_.layout.shape; }
  const std::byte* data() const& BACKSLICE_LIFETIME_BOUND { return view_.data; }
  void data() const&& = delete;
  DType dtype() const { return view_.dtype; }
  Device device() const { return view_.device; }
  const Buffer& buffer() const& BACKSLICE_LIFETIME_BOUND { return buffer_; }
  Buffer buffer() const&& { return buffer_; }

  /// The elements in row-major order. InvalidArgument if T is not the type of the elements, or if they are not
  /// contiguous (slice(Selection::all(shape), tensor) copies them into a contiguous tensor).
  template <ElementType T>
      Result<std::span<T>> elements() & BACKSLICE_LIFETIME_BOUND {
    return view_.elements<T>();
  }
  template <ElementType T>
  Result<std::span<const T>> elements() const& BACKSLICE_LIFETIME_BOUND {
    return view().template elements<T>();
  }
  template <ElementType T>
  void elements() const&& = delete;  // they would go with the tensor

 private:
  Tensor(Buffer buffer, View view) : buffer_(std::move(buffer)), view_(std::move(view)) {}

  static Result<Tensor> make_of_shape(DType dtype, const Shape& shape, std::int64_t item_size, Contents contents,
                                      Allocator& allocator);
  static Result<Tensor> copy_contiguous(const ConstView& view, Allocator& allocator);

  Buffer buffer_;
  View view_;
};

namespace detail {

/// Memory that `owner` keeps alive, for objects that only read it.
inline Tensor shared_tensor(const ConstView& view, std::shared_ptr<const void> owner) {
  auto* data = const_cast<std::byte*>(view.data);
  return Tensor::of(Buffer::wrap(std::const_pointer_cast<void>(std::move(owner)), data, view.device),
                    {data, view.dtype, view.layout, view.device});
}

}  // namespace detail

}  // namespace backslice
