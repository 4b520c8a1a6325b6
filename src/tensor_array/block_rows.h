// BlockRows: rows of the block of contiguous mode that are being written. They become zeros again, unless they are
// kept.
#pragma once

#include <vector>

#include "ops/call.h"

namespace backslice::tensor_array {

class BlockRows {
 public:
  BlockRows(std::size_t count, const Call& call) : call_(call) { begun_.reserve(count); }
  ~BlockRows();
  BlockRows(const BlockRows&) = delete;
  BlockRows& operator=(const BlockRows&) = delete;

  // Writes the row, which is dense, from a value of its shape and any strides.
  void write(const Tensor& row, const ConstView& value);
  void keep() { begun_.clear(); }

 private:
  void clear(const Tensor& row) const noexcept;

  const Call& call_;
  std::vector<Tensor> begun_;
};

}  // namespace backslice::tensor_array
