// SmallMove: moves within the caches, where making a Plan and a Schedule takes a good part of the time. A Nest does
// moves of more than a few runs.
//
// It is made on the stack, of one loop per axis in any order, and can then run on any two addresses:
//
//     SmallMove rows(4);              // the gradient of x[8:40, 8:40] of a float32 matrix (64, 64)
//     rows.skip(8 * 256 + 8 * 4, 0);
//     rows.add_axis(32, 256, 128);    // count, strides in bytes of the destination and of the source
//     rows.add_axis(32, 4, 4);
//     rows.finish();
//     rows.copy(dx, dy);
//
// Precondition of everything that writes: no two elements of the destination share memory.
#pragma once

#include <cstddef>
#include <cstdint>
#include <utility>

#include "backslice/dtype.h"
#include "backslice/export.h"
#include "core/tuning.h"

namespace backslice {

class Nest;
struct RowKernels;

class SmallMove {
 public:
  static constexpr int kMostAxes = 8;
  static constexpr std::int64_t kMostBytes = kTuning.small_bytes, kMostRuns = kTuning.small_runs;

  // The most bytes of a result that may be selected, if the result is zeroed first. In a large result, so few that
  // writing them twice does not matter. 0 for a result that is too large.
  static constexpr std::int64_t most_selected(std::int64_t result_bytes) {
    if (result_bytes <= kMostBytes) return kMostBytes;
    return result_bytes <= kTuning.small_zeros ? result_bytes / kTuning.sparse : 0;
  }

  explicit SmallMove(std::int64_t item_size) : item_size_(item_size) {}

  // Moves the first element by so many bytes.
  void skip(std::int64_t dst_bytes, std::int64_t src_bytes) {
    dst_offset_ += dst_bytes;
    src_offset_ += src_bytes;
  }

  // Precondition: 1 <= count, and there are fewer than kMostAxes axes so far.
  void add_axis(std::int64_t count, std::int64_t dst_stride, std::int64_t src_stride) {
    if (count == 1) return;
    if (dst_stride < 0) {
      skip((count - 1) * dst_stride, (count - 1) * src_stride);
      dst_stride = -dst_stride;
      src_stride = -src_stride;
    }
    int at = size_++;  // the destination is walked in the order of its memory
    for (; at > 0 && loops_[at - 1].dst < dst_stride; --at) loops_[at] = loops_[at - 1];
    loops_[at] = {count, dst_stride, src_stride};
  }

  // Whether the strides alone prove that no two elements of the destination share memory. Call it before finish().
  bool is_surely_distinct() const {
    std::int64_t reach = item_size_;
    for (int i = size_ - 1; i >= 0; --i) {
      if (loops_[i].dst < reach) return false;
      reach += (loops_[i].count - 1) * loops_[i].dst;
    }
    return true;
  }

  // Merges loops that continue each other. Called once, after the last axis.
  void finish() {
    int kept = 0;
    for (int i = 0; i < size_; ++i) {
      const Loop inner = loops_[i];
      if (kept > 0 && loops_[kept - 1].dst == inner.count * inner.dst &&
          loops_[kept - 1].src == inner.count * inner.src) {
        loops_[kept - 1] = {loops_[kept - 1].count * inner.count, inner.dst, inner.src};
      } else {
        loops_[kept++] = inner;
      }
    }
    size_ = kept;
    if (size_ > 0 && loops_[size_ - 1].dst == item_size_ && loops_[size_ - 1].src == item_size_) {
      run_ = loops_[--size_].count;
    }
    walk_longest_inside();
  }

  // Whether there are few enough runs of contiguous elements.
  bool is_short() const { return runs() <= kMostRuns; }

  BACKSLICE_EXPORT void copy(std::byte* dst, const std::byte* src) const;

  // Zeroes contiguous bytes.
  BACKSLICE_EXPORT static void zero_run(std::byte* dst, std::int64_t bytes);

  // Zeroes the destination. Precondition: the source has the destination's strides.
  BACKSLICE_EXPORT void zero(std::byte* dst) const;

  // Adds. Returns false, and does nothing, for a dtype without addition.
  BACKSLICE_EXPORT bool add(DType dtype, std::byte* dst, const std::byte* src) const;

 private:
  struct Loop {
    std::int64_t count, dst, src;  // strides in bytes
  };

  // Makes the longest loop the innermost, since a call of a row function should do more than a few items.
  void walk_longest_inside() {
    int longest = size_ - 1;
    for (int i = size_ - 2; i >= 0; --i) {
      if (loops_[i].count > 4 * loops_[longest].count) longest = i;
    }
    if (size_ > 1) std::swap(loops_[longest], loops_[size_ - 1]);
  }

  template <class Row>
  void walk(std::byte* dst, const std::byte* src, const Row& row) const;
  template <class Item>
  void copy_items(std::byte* dst, const std::byte* src) const;
  template <class Item>
  void zero_items(std::byte* dst) const;
  template <class T>
  void add_items(std::byte* dst, const std::byte* src) const;

  const RowKernels* rows_for(std::int64_t items) const;
  Nest nest() const;

  std::int64_t runs() const {
    std::int64_t runs = 1;
    for (int i = 0; i < size_; ++i) runs *= loops_[i].count;
    return runs;
  }
  std::int64_t elements() const { return runs() * run_; }

  std::int64_t item_size_, dst_offset_ = 0, src_offset_ = 0;
  std::int64_t run_ = 1;  // contiguous elements on both sides, which the loops repeat
  int size_ = 0;
  Loop loops_[kMostAxes];  // outer to inner
};

}  // namespace backslice
