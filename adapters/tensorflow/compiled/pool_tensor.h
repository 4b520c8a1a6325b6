// Tensors in memory of backslice's pool, which earlier results have touched already.
#pragma once

#include <cstdint>

#include "absl/status/statusor.h"
#include "errors.h"
#include "tensor_memory.h"
#include "tensorflow/core/platform/errors.h"

namespace backslice_tensorflow {

class PoolMemory : public TensorBuffer {
 public:
  PoolMemory(backslice_buffer* memory, void* data, std::int64_t bytes)
      : TensorBuffer(data), memory_(memory), bytes_(bytes) {}

  std::size_t size() const override { return static_cast<std::size_t>(bytes_); }
  TensorBuffer* root_buffer() override { return this; }
  void FillAllocationDescription(tensorflow::AllocationDescription* description) const override {
    description->set_requested_bytes(bytes_);
    description->set_allocator_name("backslice");
  }

 private:
  ~PoolMemory() override { backslice_free(memory_); }

  backslice_buffer* const memory_;
  const std::int64_t bytes_;
};

// Precondition: the bytes are the size of the shape.
inline absl::StatusOr<Tensor> pool_tensor(std::int64_t bytes, DataType dtype, const TensorShape& shape) {
  backslice_buffer* memory = nullptr;
  void* data = nullptr;
  TF_RETURN_IF_ERROR(status_of(backslice_buffer_make(bytes, 0, nullptr, &memory)));
  backslice_buffer_data(memory, &data);
  auto* const buffer = new PoolMemory(memory, data, bytes);
  Tensor tensor(dtype, shape, buffer);
  buffer->Unref();
  return tensor;
}

}  // namespace backslice_tensorflow
