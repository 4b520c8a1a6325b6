// Buffer and Tensor: memory that is owned and shared.
//
// Copies of a Buffer share one block; the block goes when the last copy does. A Tensor is a Buffer with a View into
// it, and is what the operations return when the caller gives no output of their own.
#pragma once

#include <cstddef>
#include <memory>

#include "backslice/view.h"

namespace backslice {

class BACKSLICE_EXPORT Buffer {
 public:
  Buffer() = default;  // no memory

  // Uninitialised bytes, aligned for every dtype; ResourceExhausted when there is no memory. Large ones come from the
  // pool (buffer_pool.h) and go back to it.
  static Result<Buffer> allocate(std::int64_t bytes);

  // Zeros, of which no page has been touched yet: for tensors of which little will be.
  static Result<Buffer> allocate_zeroed(std::int64_t bytes);

  // That many empty std::strings.
  static Result<Buffer> allocate_strings(std::int64_t count);

  // Memory of somebody else's, kept alive by its owner.
  static Buffer wrap(std::shared_ptr<void> owner, std::byte* data) {
    return Buffer(std::shared_ptr<std::byte>(std::move(owner), data));
  }

  // Whether both are the same block.
  bool is_same_block(const Buffer& other) const {
    return !block_.owner_before(other.block_) && !other.block_.owner_before(block_);
  }

  std::byte* data() const { return block_.get(); }
  long use_count() const { return block_.use_count(); }

 private:
  explicit Buffer(std::shared_ptr<std::byte> block) : block_(std::move(block)) {}

  std::shared_ptr<std::byte> block_;
};

enum class Contents { Uninitialised, Zero };

class BACKSLICE_EXPORT Tensor {
 public:
  // A contiguous tensor; strings are always empty. `item_size` is for DType::Bytes only.
  static Result<Tensor> make(DType dtype, const Shape& shape, std::int64_t item_size = 0,
                             Contents contents = Contents::Uninitialised);

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
