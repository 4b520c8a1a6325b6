// Lists of row splits, as tensors.
#pragma once

#include <cstdint>
#include <type_traits>

#include "tensorflow/core/framework/tensor.h"
#include "tensorflow/core/kernels/ragged_utils.h"

namespace backslice_tensorflow {

using tensorflow::Tensor;

// A list of splits, read without checking its type each time.
class RowSplits {
 public:
  // Precondition: int32 or int64.
  explicit RowSplits(const Tensor& list)
      : data_(list.NumElements() == 0 ? nullptr : list.tensor_data().data()),
        size_(list.NumElements()),
        is_wide_(list.dtype() == tensorflow::DT_INT64) {}

  std::int64_t size() const { return size_; }
  std::int64_t operator[](std::int64_t i) const {
    return is_wide_ ? reinterpret_cast<const std::int64_t*>(data_)[i] : reinterpret_cast<const std::int32_t*>(data_)[i];
  }
  std::int64_t rows() const { return size_ - 1; }
  std::int64_t last() const { return (*this)[size_ - 1]; }

  // Not empty, from 0 upwards.
  bool are_valid() const {
    if (size_ == 0 || (*this)[0] != 0) return false;
    return is_wide_ ? are_ascending<std::int64_t>() : are_ascending<std::int32_t>();
  }

 private:
  // Whether no split is negative, and no difference either (which does not overflow if no split is negative). Without
  // branches and comparisons, so that all vector units can run it.
  template <class Integer>
  bool are_ascending() const {
    using Bits = std::make_unsigned_t<Integer>;
    const auto* const items = reinterpret_cast<const Bits*>(data_);
    Bits signs = 0;
    for (std::int64_t i = 1; i < size_; ++i) signs |= items[i] | (items[i] - items[i - 1]);
    return signs >> (8 * sizeof(Bits) - 1) == 0;
  }

  const char* data_;
  std::int64_t size_;
  bool is_wide_;
};

// Precondition: int32 or int64.
inline bool is_row_splits(const Tensor& list) { return list.dims() == 1 && RowSplits(list).are_valid(); }

// The error of splits that are not valid, in TensorFlow's words. They must end at `last`, unless it is negative.
inline absl::Status check_row_splits(const Tensor& list, std::int64_t last = -1) {
  const bool has_last = last >= 0;
  if (is_row_splits(list) && (!has_last || RowSplits(list).last() == last)) return absl::OkStatus();
  return list.dtype() == tensorflow::DT_INT64
             ? tensorflow::RaggedTensorVerifySplits<std::int64_t>(list, has_last, last)
             : tensorflow::RaggedTensorVerifySplits<std::int32_t>(list, has_last, last);
}

}  // namespace backslice_tensorflow
