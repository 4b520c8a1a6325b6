// Memory of devices is refused by everything that would touch it on the CPU. The addresses here are invalid: a touch
// would end the process.
#include <gtest/gtest.h>

#include "backslice/backslice.h"
#include "core/boundary.h"
#include "ops/call.h"
#include "testing.h"

namespace backslice {
namespace {

std::byte* nowhere() { return reinterpret_cast<std::byte*>(std::uintptr_t{64}); }

View device_view(DType dtype, Ints shape) { return *View::contiguous(nowhere(), dtype, shape, 0, Device::cuda(0)); }

Tensor device_tensor(DType dtype, Ints shape) {
  return Tensor::of(Buffer::wrap(nullptr, nowhere(), Device::cuda(0)), device_view(dtype, shape));
}

Tensor host_tensor(DType dtype, Ints shape) { return *Tensor::make(dtype, shape, 0, Contents::Zero); }

// Gives memory that must not be touched.
class DeviceMemory final : public Allocator {
 public:
  Result<Buffer> allocate(std::int64_t, Contents) override { return Buffer::wrap(nullptr, nowhere(), device()); }
  Device device() const override { return Device::cuda(0); }
};

TEST(Device, NamesItself) {
  EXPECT_EQ(to_string(Device{}), "the CPU");
  EXPECT_EQ(to_string(Device::cuda(3)), "cuda:3");
}

TEST(Device, ViewsKeepItThroughConversionsAndSelections) {
  const View view = device_view(DType::Float32, {4, 5});
  EXPECT_EQ(ConstView(view).device, Device::cuda(0));
  const auto selection = Selection::from_index({4, 5}, "1:3");
  EXPECT_EQ(select(*selection, view).device, Device::cuda(0));
  EXPECT_EQ(broadcast(*Shape::make({2, 4, 5}), view).value().device, Device::cuda(0));
  EXPECT_EQ(device_tensor(DType::Float32, {4}).device(), Device::cuda(0));
}

TEST(Device, ElementsAreTheCpusOnly) {
  const auto elements = device_view(DType::Float32, {4}).elements<float>();
  EXPECT_EQ(elements.status().code(), StatusCode::Unimplemented);
  EXPECT_NE(elements.status().message().find("cuda:0"), std::string::npos);
}

TEST(Device, ArgumentsOnDifferentDevicesAreRefused) {
  const auto selection = Selection::from_index({4}, "1:3");
  Tensor dy = host_tensor(DType::Float32, {2});
  const Status status = slice_grad_into(*selection, dy, device_view(DType::Float32, {4}));
  EXPECT_EQ(status.code(), StatusCode::InvalidArgument);
  EXPECT_EQ(status.message(), "out is on cuda:0, but dy is on the CPU");
}

TEST(Device, AnAllocatorOfAnotherDeviceIsRefused) {
  DeviceMemory memory;
  const auto selection = Selection::from_index({4}, "1:3");
  const auto dx = slice_grad(*selection, host_tensor(DType::Float32, {2}), {.allocator = &memory});
  EXPECT_EQ(dx.status().code(), StatusCode::InvalidArgument);
}

TEST(Device, AnAllocatorThatWorksInTheOrderOfAnotherStreamIsRefused) {
  const auto stream = [](std::uintptr_t number) { return reinterpret_cast<CudaStream>(number); };
  cuda::StreamAllocator memory({0, stream(4096)}), of_default_stream({0, nullptr});
  const auto message = [&](Allocator& allocator, CudaStream of_context) -> std::string {
    try {
      const Call call({.allocator = &allocator, .stream = of_context}, Device::cuda(0));
      return "";
    } catch (const StatusException& refusal) {
      return refusal.status().message();
    }
  };
  EXPECT_EQ(message(memory, stream(4096)), "");
  EXPECT_EQ(message(of_default_stream, stream(1)), "");
  EXPECT_EQ(message(memory, nullptr),
            "the context's allocator works in the order of another stream than the context's");
  EXPECT_NE(message(of_default_stream, stream(2)), "");
}

// Says one thing and does another.
class MistakenMemory final : public Allocator {
 public:
  Result<Buffer> allocate(std::int64_t bytes, Contents contents) override {
    return pool_allocator().allocate(bytes, contents);
  }
  Device device() const override { return Device::cuda(0); }
};

TEST(Device, AnAllocatorThatIsWrongAboutItsDeviceIsRefused) {
  MistakenMemory memory;
  const auto made = Tensor::make(DType::Float32, {4}, 0, Contents::Uninitialised, memory);
  EXPECT_EQ(made.status().code(), StatusCode::Internal);
  EXPECT_EQ(made.status().message(), "the allocator says that it gives memory on cuda:0, but gave a buffer on the CPU");
}

TEST(Device, TensorsOfObjectsAndCopiesAreRefusedIt) {
  DeviceMemory memory;
  EXPECT_EQ(Tensor::make(DType::String, {2}, 0, Contents::Zero, memory).status().code(), StatusCode::Unimplemented);
  EXPECT_EQ(Tensor::copy_of({1.0f}, {1}, memory).status().code(), StatusCode::Unimplemented);
}

TEST(Device, StringsAreTheCpusOnly) {
  const auto selection = Selection::from_index({4}, "1:3");
  const auto sliced = slice(*selection, device_view(DType::String, {4}));
  EXPECT_EQ(sliced.status().code(), StatusCode::Unimplemented);
}

}  // namespace
}  // namespace backslice
