// The calls of the CUDA runtime that operations on devices make, tested without a device.
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

  std::vector<float> x_ = counting<float>(24), y_ = counting<float>(24), out_ = counting<float>(24);
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
  const View y = View::strided(y_.data() + 5, {2, 3}, {6, -2}, Device::cuda(0)).value();
  const View x = View::strided(x_.data(), {4, 3}, {6, 2}, Device::cuda(0)).value();
  expect_queued(slice_into(s, x, y));
  for (Write write : kWrites) expect_queued(slice_grad_into(s, y, x, write));
}

// The exceptions: their memory comes from the allocator.
TEST_F(NoMemoryAndNoWait, IsNotEnoughWhereAGradientMustBeCopiedToHaveTheSlicesShape) {
  const OnnxSlice onnx{{1, 0}, {3, 6}, {{0, 1}}, {{1, 2}}};
  const View columns = View::strided(y_.data(), {3, 2}, {1, 3}, Device::cuda(0)).value();
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

// Streams that are captured into a graph. A wait would invalidate the capture.
class Captured : public FakeDevice {
 protected:
  Captured() {
    status_ = Tensor::make(DType::Int64, {3}, 0, Contents::Zero, *memory_).value();
    splits_ = Tensor::make(DType::Int64, {3}, 0, Contents::Zero, *memory_).value();
    fake.captures = true;
    fake.queued = 0;
  }
  ~Captured() override { fake.captures = false; }  // memory that was released meanwhile is freed with status_

  // Refused, with that in its message, before anything is queued.
  template <class Refused>
  static void expect_refused(const Refused& refused, const char* why) {
    EXPECT_TRUE(is_error(refused, StatusCode::FailedPrecondition, "the stream is being captured into a graph", why));
    EXPECT_EQ(std::exchange(fake.queued, 0), 0);
  }
  static void expect_queued(const Status& status) {
    EXPECT_TRUE(status.ok()) << status;
    EXPECT_GE(std::exchange(fake.queued, 0), 1);
  }

  View y() { return there(y_, {2}); }
  View dx() { return there(x_, {4}); }
  CooIndices input() { return indices(4); }
  CooIndices output() { return indices(2); }
  View out_indices() { return View::contiguous(taken_.data(), DType::Int64, {2, 1}, 0, Device::cuda(0)).value(); }
  Context with_status() { return {.device_status = reinterpret_cast<DeviceStatus*>(status_->view().data)}; }

  const std::shared_ptr<Allocator> memory_ = cuda_allocator(0).value();
  std::optional<Tensor> status_, splits_;

 private:
  CooIndices indices(std::int64_t rows) {
    return CooIndices::from_matrix(
               ConstView::contiguous(rows_.data(), DType::Int64, {rows, 1}, 0, Device::cuda(0)).value())
        .value();
  }
  std::vector<std::int64_t> rows_ = {0, 1, 2, 3}, taken_ = {0, 0};
};

TEST_F(Captured, SparseCallsThatWaitAreRefused) {
  const char* why = "waits for what the device finds";
  expect_refused(sparse_slice(input(), dx(), {4}, {0}, {2}), why);
  expect_refused(sparse_slice_count(input(), {0}, {2}), why);
  expect_refused(sparse_slice_into(input(), dx(), {4}, {0}, {2}, out_indices(), y()), why);
  expect_refused(sparse_slice_grad(y(), input(), {0}, output()), why);
  expect_refused(sparse_slice_grad_by_size(y(), input(), {0}, {2}), why);
  for (Write write : kWrites) {
    expect_refused(sparse_slice_grad_into(y(), input(), {0}, output(), dx(), MatchOrder::InOrder, write), why);
    expect_refused(sparse_slice_grad_by_size_into(y(), input(), {0}, {2}, dx(), write), why);
  }
}

TEST_F(Captured, OrderAnyIsRefusedWithAStatusToo) {
  const char* why = "order \"any\" waits";
  expect_refused(sparse_slice_grad(y(), input(), {0}, output(), MatchOrder::Any), why);
  expect_refused(sparse_slice_grad_into(y(), input(), {0}, output(), dx(), MatchOrder::Any), why);
  expect_refused(
      sparse_slice_grad_into(y(), input(), {0}, output(), dx(), MatchOrder::Any, Write::Overwrite, with_status()), why);
}

TEST_F(Captured, SparseCallsWithAStatusAreQueued) {
  for (Write write : kWrites) {
    expect_queued(sparse_slice_grad_into(y(), input(), {0}, output(), dx(), MatchOrder::InOrder, write, with_status()));
    expect_queued(sparse_slice_grad_by_size_into(y(), input(), {0}, {2}, dx(), write, with_status()));
  }
  expect_queued(sparse_slice_into(input(), dx(), {4}, {0}, {2}, out_indices(), y(), with_status()).status());
}

TEST_F(Captured, RowSplitsOnTheDeviceAreRefused) {
  const char* why = "copied from the device";
  const Tensor values = Tensor::of(splits_->buffer(), there(x_, {0}));
  expect_refused(RaggedTensor::make(values, {*splits_}), why);
  expect_refused(RaggedTensor::from_row_lengths(values, {*splits_}), why);
}

// Larger than 1 MiB: a graph would read memory that is freed.
TEST_F(Captured, TablesOfSeventyThousandPiecesAreRefused) {
  constexpr std::int64_t kPieces = 70'000;
  std::vector<std::optional<RaggedTensor>> pieces;
  std::vector<std::int64_t> splits = {0};
  for (std::int64_t i = 0; i < kPieces; ++i) {
    View item = there(x_, {1});
    item.data += i % 2 * 8;  // no two of them are adjacent
    pieces.push_back(RaggedTensor::make(Tensor::of(splits_->buffer(), item), {}).value());
    splits.push_back(i + 1);
  }
  const VariantArray rows = VariantArray::make(pieces, {kPieces}).value();
  std::vector<float> out(kPieces);
  expect_refused(ragged_tensor_to_variant_gradient_into(rows, {tensor_of(splits, {kPieces + 1})}, {kPieces},
                                                        there(out, {kPieces})),
                 "the table of so many pieces");
}

TEST_F(Captured, WaitingIsRefused) { expect_refused(cuda_synchronize(0), "waits"); }

TEST_F(Captured, DenseCallsAreQueued) {
  const Selection s = Selection::from_index({4}, "1:3").value();
  const SliceGradient slices[] = {{s, y()}, {s, y()}};
  auto buffer = GradBuffer::make(DType::Float32, {4}, 0, {.allocator = memory_.get()}).value();
  expect_queued(slice_into(s, dx(), y()));
  for (Write write : kWrites) {
    expect_queued(slice_grad_into(s, y(), dx(), write));
    expect_queued(multi_slice_grad_into({4}, slices, dx(), write));
  }
  expect_queued(buffer.write(s, y()));
  expect_queued(buffer.add(Selection::from_index({4}, "0:2").value(), y()));
  expect_queued(buffer.zero());
}

TEST_F(Captured, ContainersAreQueued) {
  const Tensor pair = Tensor::of(splits_->buffer(), y()), four = Tensor::of(splits_->buffer(), dx());
  auto steps = TensorArray::make(2, DType::Float32, {.device = Device::cuda(0)}).value();
  ASSERT_TRUE(steps.write(0, pair).ok());
  ASSERT_TRUE(steps.write(1, Tensor::of(splits_->buffer(), there(x_, {2}))).ok());
  expect_queued(steps.stack_into(there(out_, {2, 2})));
  const Tensor splits = tensor_of<std::int64_t>({0, 1, 4}, {3});
  const auto rows = ragged_tensor_to_variant(RaggedTensor::make(four, {splits}).value()).value();
  expect_queued(ragged_tensor_to_variant_gradient_into(rows, {splits}, {4}, there(out_, {4})));
}

// Arguments on one of two devices, while the other is the current one.
class TwoDevices : public FakeDevice, public ::testing::WithParamInterface<int> {
 protected:
  TwoDevices() {
    fake.devices = 2;
    fake.current = other();
  }

  int device() const { return GetParam(); }
  int other() const { return 1 - GetParam(); }
  template <class T>
  View here(std::vector<T>& memory, Ints shape) {
    return there(memory, shape, device());
  }

  // All that the call asks of the runtime is asked while the arguments' device is current; then the other is again.
  void expect_guarded(const std::function<Status()>& call, StatusCode code = StatusCode::Ok) {
    fake.used.clear();
    const Status status = call();
    EXPECT_EQ(status.code(), code) << status;
    EXPECT_THAT(fake.used, ElementsAre(device()));
    EXPECT_EQ(fake.current, other());
  }

  const Selection s_ = Selection::from_index({4}, "1:3").value();
  std::vector<std::int64_t> rows_ = {0, 1, 2, 3}, taken_ = {0, 0}, splits_ = {0, 1, 4};
};

TEST_P(TwoDevices, AreListed) {
  const auto devices = cuda_devices().value();
  ASSERT_EQ(devices.size(), 2u);
  EXPECT_EQ(devices[1].ordinal, 1);
  EXPECT_EQ(devices[1].name, "fake 1");
}

TEST_P(TwoDevices, DenseSlices) {
  const View x = here(x_, {4}), y = here(y_, {2});
  const SliceGradient slices[] = {{s_, y}, {s_, y}};
  expect_guarded([&] { return slice_into(s_, x, y); });
  expect_guarded([&] { return slice(s_, x).status(); });
  expect_guarded([&] { return slice_grad(s_, y).status(); });
  expect_guarded([&] { return multi_slice_grad({4}, slices).status(); });
  const PreparedSlice prepared = PreparedSlice::make(s_, DType::Float32).value();
  expect_guarded([&] { return prepared.forward(x, y); });
  for (Write write : kWrites) {
    expect_guarded([&] { return slice_grad_into(s_, y, x, write); });
    expect_guarded([&] { return multi_slice_grad_into({4}, slices, x, write); });
  }
}

TEST_P(TwoDevices, GradBuffers) {
  const View y = here(y_, {2});
  const auto allocator = cuda_allocator(device()).value();
  expect_guarded([&] {
    auto buffer = GradBuffer::make(DType::Float32, {4}, 0, {.allocator = allocator.get()});
    EXPECT_TRUE(buffer.ok() && buffer->write(s_, y).ok() && buffer->zero().ok() && buffer->add(s_, y).ok());
    return buffer->add(Selection::from_index({4}, "0:2").value(), y);
  });
}

TEST_P(TwoDevices, SparseSlices) {
  const CooIndices input = CooIndices::from_matrix(here(rows_, {4, 1})).value();
  const CooIndices output = CooIndices::from_matrix(ConstView(here(rows_, {2, 1}))).value();
  const View x = here(x_, {4}), y = here(y_, {2}), taken = here(taken_, {2, 1});
  expect_guarded([&] { return sparse_slice(input, x, {4}, {0}, {2}).status(); });
  expect_guarded([&] { return sparse_slice_count(input, {0}, {2}).status(); });
  expect_guarded([&] { return sparse_slice_into(input, x, {4}, {0}, {2}, taken, y).status(); });
  expect_guarded([&] { return sparse_slice_grad_by_size(y, input, {0}, {2}).status(); });
  for (MatchOrder order : {MatchOrder::InOrder, MatchOrder::Any}) {
    expect_guarded([&] { return sparse_slice_grad(y, input, {0}, output, order).status(); });
    for (Write write : kWrites) {
      expect_guarded([&] { return sparse_slice_grad_into(y, input, {0}, output, x, order, write); });
    }
  }
}

TEST_P(TwoDevices, RaggedTensorsAndTensorArrays) {
  const Buffer nobody;
  const Tensor values = Tensor::of(nobody, here(x_, {4})), splits = Tensor::of(nobody, here(splits_, {3}));
  expect_guarded([&] {
    const RaggedTensor rt = RaggedTensor::make(values, {splits}).value();  // splits are copied from the device
    const VariantArray rows = ragged_tensor_to_variant(rt).value();
    return ragged_tensor_to_variant_gradient_into(rows, rt.nested_row_splits(), {4}, here(y_, {4}));
  });
  expect_guarded([&] {
    auto steps = TensorArray::make(2, DType::Float32, {.device = Device::cuda(device())}).value();
    EXPECT_TRUE(steps.write(0, values).ok() && steps.write(1, values).ok());
    return steps.stack().status();
  });
}

TEST_P(TwoDevices, TheCurrentOneIsRestoredWhereCallsFail) {
  const View x = here(x_, {4}), y = here(y_, {2});
  fake.launch = cudaErrorInvalidConfiguration;
  expect_guarded([&] { return slice_grad_into(s_, y, x); }, StatusCode::ResourceExhausted);
  fake.allocate = cudaErrorMemoryAllocation;
  expect_guarded([&] { return slice_grad(s_, y).status(); }, StatusCode::ResourceExhausted);
}

TEST_P(TwoDevices, ArgumentsOnBothAreRefused) {
  const View x = there(x_, {4}, device()), y = there(y_, {2}, other());
  EXPECT_TRUE(is_error(slice_grad_into(s_, y, x), StatusCode::InvalidArgument, "out is on " + to_string(x.device),
                       "dy is on " + to_string(y.device)));
  View wrong = y;
  wrong.device = x.device;
  EXPECT_TRUE(is_error(slice_grad(s_, wrong), StatusCode::InvalidArgument, "dy is said to be on " + to_string(x.device),
                       "its memory is on " + to_string(y.device)));
  EXPECT_TRUE(is_error(cuda_allocator(2), StatusCode::InvalidArgument, "cudaSetDevice"));
  EXPECT_TRUE(fake.used.empty());
  EXPECT_EQ(fake.current, other());
}

INSTANTIATE_TEST_SUITE_P(Devices, TwoDevices, ::testing::Values(0, 1));

}  // namespace
}  // namespace backslice
