#include "tensor_array/block_rows.h"

#include <algorithm>

#include "core/boundary.h"
#include "kernels/concat/kernel.h"
#include "memory/tensor_rows.h"
#include "ops/move.h"

namespace backslice::tensor_array {
namespace {

std::byte* data_of(const Tensor& row) { return const_cast<std::byte*>(row.data()); }

std::int64_t bytes_of(const Tensor& row) { return row.shape().elements() * row.view().layout.item_size; }

}  // namespace

BlockRows::~BlockRows() {
  for (const Tensor& row : begun_) clear(row);
}

void BlockRows::clear(const Tensor& row) const noexcept {
  if (call_.device.is_cpu()) {
    std::fill_n(data_of(row), bytes_of(row), std::byte{0});
    return;
  }
  try {
    cuda::zero(data_of(row), bytes_of(row), call_.queue());
  } catch (...) {  // the device has failed, and all its memory is lost
  }
}

void BlockRows::write(const Tensor& row, const ConstView& value) {
  begun_.push_back(row);
  Tensor to = row;
  if (!is_contiguous(value.layout)) return copy_into(to.view(), value, call_);
  const Segment all{value.data, bytes_of(row)};  // contiguous: it needs no plan
  if (!call_.device.is_cpu()) {
    return cuda::concat(data_of(row), {&all, 1}, value.dtype, call_.device_kernel());
  }
  concat(data_of(row), {&all, 1}, value.dtype, value.layout.item_size, call_.kernel(all.bytes));
}

}  // namespace backslice::tensor_array
