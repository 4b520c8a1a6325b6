// Copies of tensors for the CPU to read.
#pragma once

#include "backslice/tensor.h"
#include "ops/call.h"
#include "ops/move.h"

namespace backslice {

// Returns a tensor of the CPU itself. Else it copies the tensor, after the work queued on the stream, and waits for the
// copy. Throws a StatusException on failure.
inline Tensor on_cpu(const Tensor& tensor, CudaStream stream = nullptr) {
  if (tensor.device().is_cpu()) return tensor;
  const auto unwrap = [](Result<Tensor> made) {
    if (!made.ok()) throw StatusException(made.status());
    return *std::move(made);
  };
  const Call call({.stream = stream}, tensor.device());
  cuda::refuse_capture("what the CPU reads is copied from the device, which takes a wait", call.queue());
  const bool is_dense = is_contiguous(tensor.view().layout);
  const Tensor dense = is_dense ? tensor : unwrap(copy_of(tensor.view(), call));
  const std::int64_t item_size = tensor.view().layout.item_size;
  Tensor copy = unwrap(Tensor::make(tensor.dtype(), tensor.shape(), item_size));
  const std::int64_t bytes = tensor.shape().elements() * item_size;
  if (bytes > 0) cuda::copy_to_host(copy.view().data, dense.data(), bytes, call.queue());
  return copy;
}

}  // namespace backslice
