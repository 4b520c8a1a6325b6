// Tensors of the CPU's, copied to a CUDA device and back, for tests that compare the two.
#pragma once

#include "backslice/cuda.h"
#include "testing.h"

namespace backslice::testing {

inline Allocator& device_memory() {
  static const std::shared_ptr<Allocator> memory = cuda_allocator(0).value();
  return *memory;
}

inline Context on_device() { return {.allocator = &device_memory()}; }

// Bytes, copied to the device.
inline Tensor uploaded(const void* data, std::int64_t bytes) {
  Tensor copy = Tensor::make(DType::UInt8, {bytes}, 0, Contents::Uninitialised, device_memory()).value();
  if (bytes == 0) return copy;
  EXPECT_TRUE(cuda_copy(copy.view(), ConstView::contiguous(data, DType::UInt8, {bytes}).value()).ok());
  return copy;
}

inline std::vector<std::byte> downloaded(const ConstView& view) {
  const std::int64_t bytes = view.elements() * view.layout.item_size;
  std::vector<std::byte> memory(static_cast<std::size_t>(bytes));
  if (bytes == 0) return memory;
  const View to{memory.data(), view.dtype, view.layout, Device()};
  EXPECT_TRUE(cuda_copy(to, view).ok());
  EXPECT_TRUE(cuda_synchronize(0).ok());
  return memory;
}

// A tensor of the same contents on the device, contiguous.
inline Tensor to_device(const Tensor& tensor) {
  Tensor copy = Tensor::make(tensor.dtype(), tensor.shape(), tensor.view().layout.item_size, Contents::Uninitialised,
                             device_memory())
                    .value();
  EXPECT_TRUE(tensor.shape().elements() == 0 || cuda_copy(copy.view(), tensor.view()).ok());
  return copy;
}

inline Tensor to_cpu(const Tensor& tensor) {
  Tensor copy = Tensor::make(tensor.dtype(), tensor.shape(), tensor.view().layout.item_size).value();
  EXPECT_TRUE(tensor.shape().elements() == 0 || cuda_copy(copy.view(), tensor.view()).ok());
  EXPECT_TRUE(cuda_synchronize(0).ok());
  return copy;
}

// A tensor of any strides with the memory around it, on the device.
class DeviceTwin {
 public:
  explicit DeviceTwin(const RandomTensor& twin)
      : memory_(uploaded(twin.memory.data(), static_cast<std::int64_t>(twin.memory.size()))), view_(twin.view) {
    view_.data = memory_.view().data + (twin.view.data - twin.memory.data());
    view_.device = memory_.device();
  }
  const View& view() const { return view_; }
  std::vector<std::byte> memory() const { return downloaded(memory_.view()); }

 private:
  Tensor memory_;
  View view_;
};

}  // namespace backslice::testing
