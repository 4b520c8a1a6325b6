// What operations on CUDA devices ask of the runtime, without a device.
#include "backslice/cuda.h"
#include "fake_runtime.h"
#include "testing.h"

namespace backslice {
namespace {

using namespace testing;

constexpr Write kWrites[] = {Write::Overwrite, Write::IntoZeros, Write::Accumulate};

class FakeDevice : public ::testing::Test {
 protected:
  FakeDevice() { fake = {}; }
  ~FakeDevice() override {
    EXPECT_TRUE(fake.allocated.empty()) << fake.allocated.size() << " blocks were not given back";
    fake = {};
  }

  View x() { return there(x_, {4, 6}); }

  std::vector<float> x_ = counting<float>(24), y_ = counting<float>(24);
};

// Memory that runs out, and a stream that cannot be waited for.
class NoMemoryAndNoWait : public FakeDevice {
 protected:
  NoMemoryAndNoWait() {
    fake.allocate = cudaErrorMemoryAllocation;
    fake.wait = cudaErrorStreamCaptureUnsupported;
  }

  // The call succeeds, and has queued a kernel.
  static void expect_queued(const Status& status) {
    EXPECT_TRUE(status.ok()) << status;
    EXPECT_GE(std::exchange(fake.launches, 0), 1);
  }
};

constexpr const char* kIndices[] = {"1:3", ":, 1:5", ":, ::2", "::-1, ::-1", "2, 1::3", "..., None, 3"};

TEST_F(NoMemoryAndNoWait, IsEnoughForSlicesIntoTheCallersMemory) {
  for (const char* index : kIndices) {
    const Selection s = Selection::from_index({4, 6}, index).value();
    const View y = there(y_, s.result_shape());
    expect_queued(slice_into(s, x(), y));
    for (Write write : kWrites) expect_queued(slice_grad_into(s, y, x(), write));
    const PreparedSlice prepared = PreparedSlice::make(s, DType::Float32).value();
    expect_queued(prepared.forward(x(), y));
    expect_queued(prepared.gradient(y, x()));
    expect_queued(prepared.accumulate(y, x()));
  }
}

TEST_F(NoMemoryAndNoWait, IsEnoughForTheDialectsFormsIntoTheCallersMemory) {
  const TfSlice tf{{1, 0}, {3, 6}, {1, 2}};
  const OnnxSlice onnx{{1, 0}, {3, 6}, {{0, 1}}, {{1, 2}}};
  const View y = there(y_, {2, 3});
  expect_queued(strided_slice_into(x(), tf, y));
  expect_queued(onnx_slice_into(x(), onnx, y));
  for (Write write : kWrites) {
    expect_queued(strided_slice_grad_into({4, 6}, tf, y, x(), write));
    expect_queued(onnx_slice_grad_into(y, {4, 6}, onnx, x(), write));
    expect_queued(onnx_slice_grad_into(there(y_, {3, 2}), {4, 6}, onnx, x(), write));  // a view as [2, 3]
  }
}

TEST_F(NoMemoryAndNoWait, IsEnoughForStridedMemory) {
  const Selection s = Selection::from_index({4, 3}, "1:3, ::-1").value();
  const View y = View::strided(y_.data() + 5, DType::Float32, {2, 3}, {24, -8}, 0, Device::cuda(0)).value();
  const View x = View::strided(x_.data(), DType::Float32, {4, 3}, {24, 8}, 0, Device::cuda(0)).value();
  expect_queued(slice_into(s, x, y));
  for (Write write : kWrites) expect_queued(slice_grad_into(s, y, x, write));
}

// The exceptions: what they take comes from the allocator.
TEST_F(NoMemoryAndNoWait, IsNotEnoughWhereAGradientMustBeCopiedToHaveTheSlicesShape) {
  const OnnxSlice onnx{{1, 0}, {3, 6}, {{0, 1}}, {{1, 2}}};
  const View columns = View::strided(y_.data(), DType::Float32, {3, 2}, {4, 12}, 0, Device::cuda(0)).value();
  EXPECT_TRUE(is_error(onnx_slice_grad_into(columns, {4, 6}, onnx, x()), StatusCode::ResourceExhausted,
                       "cudaMallocAsync failed on cuda:0"));
  EXPECT_EQ(fake.launches, 0);
}

TEST_F(NoMemoryAndNoWait, IsNotEnoughForTheTablesOfManySlices) {
  const Selection s = Selection::from_index({4, 6}, "1:3").value();
  const SliceGradient slices[] = {{s, there(y_, {2, 6})}, {s, there(y_, {2, 6})}};
  EXPECT_TRUE(is_error(multi_slice_grad_into({4, 6}, slices, x()), StatusCode::ResourceExhausted, "cudaMallocAsync"));
  EXPECT_EQ(fake.launches, 0);
}

TEST_F(FakeDevice, GradBuffersTakeMemoryOnlyToAddWhatPartlyMeetsWhatIsThere) {
  const auto allocator = cuda_allocator(0).value();
  auto buffer = GradBuffer::make(DType::Float32, {4, 6}, 0, {.allocator = allocator.get()}).value();
  const auto at = [](const char* index) { return Selection::from_index({4, 6}, index).value(); };
  const View rows = there(y_, {2, 6});
  fake.allocate = cudaErrorMemoryAllocation;
  fake.wait = cudaErrorStreamCaptureUnsupported;
  EXPECT_TRUE(buffer.write(at("0:2"), rows).ok());
  EXPECT_TRUE(buffer.add(at("0:2"), rows).ok());
  EXPECT_TRUE(buffer.add(at("2:4"), rows).ok());
  EXPECT_TRUE(buffer.zero().ok());
  EXPECT_TRUE(buffer.add(at("0:2"), rows).ok());
  EXPECT_TRUE(is_error(buffer.add(at("1:3"), rows), StatusCode::ResourceExhausted, "cudaMallocAsync"));
  fake.allocate = cudaSuccess;
  EXPECT_TRUE(buffer.add(at("1:3"), rows).ok()) << "without waiting";
}

}  // namespace
}  // namespace backslice
