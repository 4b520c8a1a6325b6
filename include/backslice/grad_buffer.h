/// @file
/// GradBuffer: a gradient that knows where it is not zero.
///
/// A training step that slices a large tensor fills a small part of its gradient. A new gradient per step costs the
/// whole tensor per step; a GradBuffer keeps the memory, remembers which regions were written, and clears only those.
///
///     Result<GradBuffer> buffer = GradBuffer::make(DType::Float32, {65536, 1024});
///     if (!buffer) return buffer.status();
///     Status written = buffer->write(rows_k, dy);   // as slice_grad, but touches only the old and the new rows
///
/// A call that fails changes nothing, with one exception: a write() that is cancelled half-way leaves unspecified
/// values where it and the slices before it wrote, which the next write() or zero() clears. Not thread-safe: one writer
/// at a time. It can be moved but not copied: a copy would share the memory, but not the record of what was written.
#pragma once

#include <vector>

#include "backslice/slice.h"

namespace backslice {

/// A gradient that is reused from step to step.
class BACKSLICE_EXPORT GradBuffer {
 public:
  GradBuffer(GradBuffer&&) = default;
  GradBuffer& operator=(GradBuffer&&) = default;

  /// All zero, in memory of the context's allocator, and so on its device. `item_size` is needed for DType::Bytes only;
  /// float8_e8m0fnu has no zero and is refused.
  static Result<GradBuffer> make(DType dtype, Ints shape, std::int64_t item_size = kItemSizeOfDType,
                                 const Context& = {});
  static Result<GradBuffer> make(DType dtype, Ints shape, const Context& context) {
    return make(dtype, shape, kItemSizeOfDType, context);
  }

  /// Makes the content the gradient of this slice: dy where selected, zero elsewhere.
  Status write(const Selection& selection, const ConstView& dy, const Context& = {});

  /// The gradient of this slice is added, by the rule on sums: the first contribution to an element is copied. It is
  /// cancelled before anything is added, or not at all. An executor that breaks its contract is reported (Internal,
  /// with output_written()) when all was added.
  Status add(const Selection& selection, const ConstView& dy, const Context& = {});

  /// The content becomes zero. It cannot be cancelled, and fails on a device only.
  Status zero(const Context& = {});

  /// The current gradient.
  ConstView view() const& BACKSLICE_LIFETIME_BOUND { return tensor_.view(); }
  void view() const&& = delete;
  const Tensor& tensor() const& BACKSLICE_LIFETIME_BOUND { return tensor_; }
  Tensor tensor() const&& { return tensor_; }

  /// For writing by other means; everything counts as written, until the next write() or zero().
  View writable() & BACKSLICE_LIFETIME_BOUND;

  /// The regions that may not be zero; all of them after writable().
  const std::vector<Selection>& regions() const& BACKSLICE_LIFETIME_BOUND { return regions_; }
  std::vector<Selection> regions() const&& { return regions_; }

 private:
  friend struct SmallUpdate;

  GradBuffer(Tensor tensor, bool is_fresh) : tensor_(std::move(tensor)), is_fresh_(is_fresh) {}

  // Before the first write of a region that is not small.
  void choose_pages(const Selection& region) noexcept;

  Status check(const Selection& selection, const ConstView& dy);

  // Precondition: there is room for one more region.
  void remember(const Selection& region) noexcept;
  void remember_all() noexcept;

  Tensor tensor_;
  bool is_fresh_;                   // its pages have not been chosen
  std::vector<Selection> regions_;  // ascending steps, nothing dropped, no two equal
};

}  // namespace backslice
