// The block of a tensor's memory, and tensors that are a part of another one's memory.
#pragma once

#include <cstdint>

#include "tensorflow/core/common_runtime/dma_helper.h"
#include "tensorflow/core/framework/allocation_description.pb.h"
#include "tensorflow/core/framework/tensor.h"

namespace backslice_tensorflow {

using tensorflow::DataType;
using tensorflow::Tensor;
using tensorflow::TensorBuffer;
using tensorflow::TensorShape;

constexpr std::int64_t kAlignment = EIGEN_MAX_ALIGN_BYTES;  // kernels of TensorFlow abort on tensors with less

inline bool is_aligned(const void* data) { return reinterpret_cast<std::uintptr_t>(data) % kAlignment == 0; }

inline TensorBuffer* buffer_of(const Tensor& tensor) {
  return const_cast<TensorBuffer*>(tensorflow::DMAHelper::buffer(&tensor));
}

// Returns the block of a tensor's memory; null for a tensor without memory.
inline TensorBuffer* block_of(const Tensor& tensor) {
  TensorBuffer* const buffer = buffer_of(tensor);
  return buffer == nullptr ? nullptr : buffer->root_buffer();
}

inline char* data_of(const Tensor& tensor) {
  const TensorBuffer* const buffer = buffer_of(tensor);
  return buffer == nullptr ? nullptr : static_cast<char*>(buffer->data());
}

// Some bytes of a block, which stays alive as long as they are needed.
class PartOfBlock : public TensorBuffer {
 public:
  PartOfBlock(TensorBuffer* block, void* data, std::int64_t bytes) : TensorBuffer(data), block_(block), bytes_(bytes) {
    block_->Ref();
  }

  std::size_t size() const override { return static_cast<std::size_t>(bytes_); }
  TensorBuffer* root_buffer() override { return block_; }
  bool OwnsMemory() const override { return block_->OwnsMemory(); }
  void FillAllocationDescription(tensorflow::AllocationDescription* description) const override {
    block_->FillAllocationDescription(description);
  }

 private:
  ~PartOfBlock() override { block_->Unref(); }

  TensorBuffer* const block_;
  const std::int64_t bytes_;
};

// Preconditions: the bytes lie in the block, are aligned, and are the size of the shape.
inline Tensor part_of_block(TensorBuffer* block, const char* data, std::int64_t bytes, DataType dtype,
                            const TensorShape& shape) {
  auto* const part = new PartOfBlock(block, const_cast<char*>(data), bytes);
  Tensor tensor(dtype, shape, part);
  part->Unref();
  return tensor;
}

}  // namespace backslice_tensorflow
