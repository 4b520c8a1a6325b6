// Lists of row splits, as tensors.
#pragma once

#include <cstdint>

#include "tensorflow/core/framework/tensor.h"

namespace backslice_tensorflow {

using tensorflow::Tensor;

// A list of splits, read without asking for its type each time.
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
    bool ascending = true;
    for (std::int64_t i = 1; i < size_; ++i) ascending &= (*this)[i - 1] <= (*this)[i];
    return ascending;
  }

 private:
  const char* data_;
  std::int64_t size_;
  bool is_wide_;
};

inline bool is_row_splits(const Tensor& list) {
  const bool has_type = list.dtype() == tensorflow::DT_INT32 || list.dtype() == tensorflow::DT_INT64;
  return has_type && list.dims() == 1 && RowSplits(list).are_valid();
}

}  // namespace backslice_tensorflow
