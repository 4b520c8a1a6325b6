// The rows of a tensor, each as a tensor: parts of its memory if they are aligned, otherwise parts of copies.
//
// Copies share blocks, one allocation for many rows, since an allocation costs more than a short row.
#pragma once

#include <algorithm>
#include <cstring>
#include <numeric>
#include <vector>

#include "join.h"
#include "row_splits.h"

namespace backslice_tensorflow {

class Rows {
 public:
  // Precondition: the splits are valid for the first axis of the values.
  Rows(const Tensor& values, RowSplits splits)
      : values_(values), splits_(splits), width_(item_size_of(values.dtype())) {
    item_ = values.NumElements() > 0 ? width_ : 0;  // of nothing there may be more than can be counted
    for (int axis = 1; axis < values.dims() && item_ > 0; ++axis) item_ *= values.dim_size(axis);
    is_shared_ = item_ > 0 && block_of(values) != nullptr && is_aligned(data_of(values));
    for (std::int64_t i = 0; i < splits_.rows() && is_shared_; ++i) is_shared_ = splits_[i] * item_ % kAlignment == 0;
    step_ = std::lcm(kAlignment, width_);
  }

  // Calls take(i, data, bytes, block) row by row, in order: the aligned memory of row i, and its block, which the
  // callee may keep. Rows without elements have no memory.
  template <class Take>
  absl::Status for_each(OpKernelContext* context, const Take& take) const {
    std::int64_t row = 0;
    while (row < splits_.rows()) {
      const std::int64_t end = is_shared_ ? splits_.rows() : end_of_block(row);
      Tensor copy;
      if (!is_shared_) TF_RETURN_IF_ERROR(copy_rows(context, row, end, &copy));
      const char* at = is_shared_ ? nullptr : data_of(copy);
      for (; row < end; ++row) {
        const std::int64_t bytes = bytes_of(row);
        const char* const data = is_shared_ ? data_of(values_) + splits_[row] * item_ : at;
        take(row, bytes == 0 ? nullptr : data, bytes, block_of(is_shared_ ? values_ : copy));
        at += padded(bytes);
      }
    }
    return absl::OkStatus();
  }

 private:
  static constexpr std::int64_t kBlock = 1 << 18;  // bytes: what a single row that somebody keeps may hold on to

  std::int64_t bytes_of(std::int64_t row) const { return (splits_[row + 1] - splits_[row]) * item_; }
  std::int64_t padded(std::int64_t bytes) const { return (bytes + step_ - 1) / step_ * step_; }

  std::int64_t end_of_block(std::int64_t row) const {
    std::int64_t bytes = padded(bytes_of(row));
    while (++row < splits_.rows() && bytes + padded(bytes_of(row)) <= kBlock) bytes += padded(bytes_of(row));
    return row;
  }

  absl::Status copy_rows(OpKernelContext* context, std::int64_t row, std::int64_t end, Tensor* copy) const {
    std::int64_t bytes = 0;
    for (std::int64_t i = row; i < end; ++i) bytes += padded(bytes_of(i));
    TF_RETURN_IF_ERROR(context->allocate_temp(values_.dtype(), TensorShape({bytes / width_}), copy));
    char* to = data_of(*copy);
    for (; row < end; ++row) {
      copy_items(data_of(values_) + splits_[row] * item_, bytes_of(row), to);
      to += padded(bytes_of(row));
    }
    return absl::OkStatus();
  }

  void copy_items(const char* from, std::int64_t bytes, char* to) const {
    if (bytes == 0) return;
    if (values_.dtype() == tensorflow::DT_STRING) {
      std::copy_n(reinterpret_cast<const tstring*>(from), bytes / width_, reinterpret_cast<tstring*>(to));
    } else {
      std::memcpy(to, from, static_cast<std::size_t>(bytes));
    }
  }

  const Tensor& values_;
  const RowSplits splits_;
  std::int64_t width_;  // of an element, in bytes
  std::int64_t item_;   // of an item of the first axis
  std::int64_t step_;   // rows begin at multiples of it
  bool is_shared_;
};

}  // namespace backslice_tensorflow
