// BlockRows: rows of the block of contiguous mode that are being written. They become zeros again, unless they are
// kept.
#pragma once

#include <vector>

#include "ops/call.h"

namespace backslice::tensor_array {

class BlockRows {
 public:
  explicit BlockRows(std::size_t count) { begun_.reserve(count); }
  ~BlockRows();
  BlockRows(const BlockRows&) = delete;
  BlockRows& operator=(const BlockRows&) = delete;

  // The row, which is dense, from a value of its shape and any strides.
  void write(const Tensor& row, const ConstView& value, const Call& call);
  void keep() { begun_.clear(); }

 private:
  std::vector<Tensor> begun_;
};

}  // namespace backslice::tensor_array
