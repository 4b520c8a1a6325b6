// Tensor arrays with elements on a CUDA device, beside those on the CPU.
#include <cuda_runtime_api.h>

#include <atomic>
#include <chrono>
#include <functional>
#include <thread>

#include "backslice/grad_buffer.h"
#include "backslice/tensor_array.h"
#include "core/errors.h"
#include "on_device.h"

namespace backslice {
namespace {

using namespace testing;

Tensor random_values(std::mt19937& random, DType dtype, Ints shape) {
  RandomTensor made = contiguous_tensor(random, dtype, shape);
  remove_nans(made.memory);
  return slice(Selection::all(made.view.shape()), made.view).value();
}

void expect_equal(const Result<Tensor>& device, const Result<Tensor>& cpu) {
  ASSERT_EQ(device.ok(), cpu.ok()) << device.status().to_string() << " / " << cpu.status().to_string();
  if (!cpu.ok()) return;
  EXPECT_EQ(device->device(), Device::cuda(0));
  ASSERT_EQ(device->shape(), cpu->shape());
  const Tensor found = to_device(to_cpu(*device)), expected = to_device(*cpu);
  EXPECT_EQ(downloaded(found.view()), downloaded(expected.view()));
}

struct Arrays {
  TensorArray cpu, device;
};

Arrays make(std::int64_t size, DType dtype, TensorArrayOptions options = {}) {
  const TensorArray cpu = TensorArray::make(size, dtype, options).value();
  options.device = Device::cuda(0);
  return {cpu, TensorArray::make(size, dtype, options).value()};
}

constexpr DType kTypes[] = {DType::Float32, DType::Int8,      DType::BFloat16,  DType::Float64,
                            DType::Float16, DType::Complex64, DType::Float8E5M2};

TEST(TensorArrayCuda, SumsAreFormedInTheOrderOfTheWrites) {
  std::mt19937 random(91);
  for (DType dtype : kTypes) {
    for (std::size_t terms : {1, 2, 3, 7, 8, 9, 20}) {
      Arrays arrays = make(3, dtype);
      TensorArray cpu = arrays.cpu.grad("g").value(), device = arrays.device.grad("g").value();
      EXPECT_EQ(device.device(), Device::cuda(0));
      for (std::size_t i = 0; i < terms; ++i) {
        for (std::int64_t index : {0, 2}) {
          const Tensor value = random_values(random, dtype, {5, 7});
          ASSERT_TRUE(cpu.write(index, value).ok());
          ASSERT_TRUE(device.write(index, to_device(value)).ok());
        }
      }
      const Tensor value = random_values(random, dtype, {5, 7});
      ASSERT_TRUE(cpu.write(1, value).ok());
      ASSERT_TRUE(device.write(1, to_device(value)).ok());
      expect_equal(device.stack(), cpu.stack());
    }
  }
}

TEST(TensorArrayCuda, UnwrittenElementsAreZerosOnTheDevice) {
  Arrays arrays =
      make(4, DType::Float32, {.element_shape = PartialShape(*Shape::make({2})), .clear_after_read = false});
  const Tensor value = tensor_of<float>({1, 2}, {2});
  ASSERT_TRUE(arrays.cpu.write(2, value).ok());
  ASSERT_TRUE(arrays.device.write(2, to_device(value)).ok());
  expect_equal(arrays.device.read(0), arrays.cpu.read(0));
  expect_equal(arrays.device.gather({3, 2, 2}), arrays.cpu.gather({3, 2, 2}));
  const auto cpu = arrays.cpu.concat().value(), device = arrays.device.concat().value();
  expect_equal(device.value, cpu.value);
  EXPECT_EQ(device.lengths, cpu.lengths);
}

TEST(TensorArrayCuda, ScattersSplitsAndUnstacks) {
  std::mt19937 random(92);
  for (bool contiguous : {false, true}) {
    TensorArrayOptions options{.element_shape = PartialShape(*Shape::make({3, 4})), .contiguous = contiguous};
    Arrays arrays = make(5, DType::Float16, options);
    RandomTensor value = random_tensor(random, DType::Float16, {4, 3, 4});
    const DeviceTwin twin(value);
    const Tensor cpu_value = Tensor::of(Buffer::wrap(nullptr, value.memory.data()), value.view);
    const Tensor device_value = Tensor::of(Buffer::wrap(nullptr, twin.view().data, Device::cuda(0)), twin.view());
    ASSERT_TRUE(arrays.cpu.scatter({4, 0, 1, 3}, cpu_value).ok());
    ASSERT_TRUE(arrays.device.scatter({4, 0, 1, 3}, device_value).ok());
    expect_equal(arrays.device.stack(), arrays.cpu.stack());
  }
  Arrays arrays = make(3, DType::Int32);
  const Tensor value = random_values(random, DType::Int32, {6, 2});
  ASSERT_TRUE(arrays.cpu.split(value, {1, 0, 5}).ok());
  ASSERT_TRUE(arrays.device.split(to_device(value), {1, 0, 5}).ok());
  expect_equal(arrays.device.concat().value().value, arrays.cpu.concat().value().value);
}

TEST(TensorArrayCuda, ReadsIntoMemoryOfTheCallers) {
  std::mt19937 random(93);
  Arrays arrays = make(2, DType::BFloat16);
  TensorArray cpu = arrays.cpu.grad("g").value(), device = arrays.device.grad("g").value();
  for (std::int64_t index : {0, 1, 0}) {
    const Tensor value = random_values(random, DType::BFloat16, {3});
    ASSERT_TRUE(cpu.write(index, value).ok());
    ASSERT_TRUE(device.write(index, to_device(value)).ok());
  }
  RandomTensor out = random_tensor(random, DType::BFloat16, {2, 3});
  const DeviceTwin twin(out);
  const Status filled = device.stack_into(twin.view());
  ASSERT_TRUE(filled.ok()) << filled.to_string();
  ASSERT_TRUE(cpu.stack_into(out.view).ok());
  EXPECT_EQ(twin.memory(), out.memory);
}

// A stream that is blocked until it is released. After some seconds it continues by itself: tools that wait for each
// launch would wait forever.
class HeldStream {
 public:
  HeldStream() {
    EXPECT_EQ(cudaStreamCreateWithFlags(&stream_, cudaStreamNonBlocking), cudaSuccess);
    const auto wait = [](void* go) {
      const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(5);
      while (!static_cast<std::atomic<bool>*>(go)->load() && std::chrono::steady_clock::now() < end) {
        std::this_thread::yield();
      }
    };
    EXPECT_EQ(cudaLaunchHostFunc(stream_, wait, &go_), cudaSuccess);
  }
  ~HeldStream() {
    let_go();
    (void)cudaStreamSynchronize(stream_);
    (void)cudaStreamDestroy(stream_);
  }
  HeldStream(const HeldStream&) = delete;
  operator CudaStream() const { return stream_; }
  void let_go() { go_ = true; }

 private:
  std::atomic<bool> go_ = false;
  cudaStream_t stream_ = nullptr;
};

class OtherStream {
 public:
  OtherStream() { EXPECT_EQ(cudaStreamCreateWithFlags(&stream_, cudaStreamNonBlocking), cudaSuccess); }
  ~OtherStream() { (void)cudaStreamDestroy(stream_); }
  OtherStream(const OtherStream&) = delete;
  operator CudaStream() const { return stream_; }

 private:
  cudaStream_t stream_ = nullptr;
};

constexpr std::int64_t kManyBytes = 8 << 20;

// So many bytes of that value, in memory of the stream, once it has written them.
Tensor filled(CudaStream stream, int value) {
  Tensor made =
      Tensor::make(DType::UInt8, {kManyBytes}, 0, Contents::Uninitialised, *cuda_allocator(0, stream).value()).value();
  EXPECT_EQ(cudaMemsetAsync(made.view().data, value, kManyBytes, stream), cudaSuccess);
  return made;
}

int first_of(const Tensor& tensor, CudaStream stream) {
  std::uint8_t first = 0;
  EXPECT_EQ(cudaMemcpyAsync(&first, tensor.data(), 1, cudaMemcpyDeviceToHost, stream), cudaSuccess);
  EXPECT_TRUE(cuda_synchronize(0, stream).ok());
  return first;
}

// One stream makes the elements; another reads them after the first could have freed their memory.
void expect_kept(const std::function<Result<Tensor>(TensorArray&, CudaStream)>& read) {
  OtherStream writing;
  HeldStream reading;
  TensorArray array = make(2, DType::UInt8).device.grad("g").value();
  for (std::int64_t index : {0, 1, 0}) ASSERT_TRUE(array.write(index, filled(writing, 1)).ok());
  ASSERT_TRUE(cuda_synchronize(0, writing).ok());
  const auto result = read(array, reading);
  ASSERT_TRUE(result.ok()) << result.status().to_string();
  ASSERT_TRUE(array.close().ok());
  std::vector<Tensor> others;
  for (int i = 0; i < 4; ++i) others.push_back(filled(writing, 77));  // would get the memory of the elements
  const cudaError_t state = cudaStreamQuery(writing);                 // which has to wait for the reading
  reading.let_go();
  EXPECT_EQ(first_of(*result, reading), 2);
  EXPECT_EQ(state, cudaErrorNotReady);
  EXPECT_EQ(first_of(others[0], writing), 77);
}

TEST(TensorArrayCuda, ElementsThatAreReadOnAnotherStreamAreKeptForIt) {
  expect_kept([](TensorArray& array, CudaStream stream) { return array.stack({.stream = stream}); });
  expect_kept([](TensorArray& array, CudaStream stream) { return array.read(0, {.stream = stream}); });
  expect_kept([](TensorArray& array, CudaStream stream) -> Result<Tensor> {
    auto out =
        Tensor::make(DType::UInt8, {2, kManyBytes}, 0, Contents::Uninitialised, *cuda_allocator(0, stream).value());
    BACKSLICE_RETURN_IF_ERROR(array.stack_into(out->view(), {.stream = stream}));
    return out;
  });
}

TEST(TensorArrayCuda, ElementsThatAnotherStreamIsStillWritingAreWaitedFor) {
  HeldStream writing;
  OtherStream reading;
  TensorArray array = make(2, DType::UInt8).device.grad("g").value();
  for (std::int64_t index : {0, 1, 0}) ASSERT_TRUE(array.write(index, filled(writing, 1)).ok());
  const auto stacked = array.stack({.stream = reading});
  ASSERT_TRUE(stacked.ok()) << stacked.status().to_string();
  EXPECT_EQ(cudaStreamQuery(reading), cudaErrorNotReady);
  writing.let_go();
  EXPECT_EQ(first_of(*stacked, reading), 2);
}

TEST(GradBufferCuda, ChangesHappenInTheOrderOfTheCalls) {
  OtherStream making, second;
  HeldStream first;
  const auto memory = cuda_allocator(0, making).value();
  GradBuffer buffer =
      GradBuffer::make(DType::UInt8, {kManyBytes}, 0, {.allocator = memory.get(), .stream = making}).value();
  const Tensor one = filled(making, 1), five = filled(making, 5);
  ASSERT_TRUE(cuda_synchronize(0, making).ok());
  const Selection all = *Selection::from_index({kManyBytes}, ":");
  ASSERT_TRUE(buffer.write(all, one, {.stream = first}).ok());
  ASSERT_TRUE(buffer.add(all, five, {.stream = second}).ok());
  ASSERT_TRUE(buffer.add(all, five, {.stream = making}).ok());
  first.let_go();
  EXPECT_EQ(first_of(buffer.tensor(), making), 11);
}

TEST(TensorArrayCuda, TermsThatAreAddedUpOnAnotherStreamAreKeptForIt) {
  OtherStream writing;
  HeldStream adding;
  TensorArray array = make(1, DType::UInt8).device.grad("g").value();
  for (std::size_t i = 0; i < TensorArray::kMaxTerms; ++i) ASSERT_TRUE(array.write(0, filled(writing, 1)).ok());
  const Tensor last = filled(writing, 1);
  ASSERT_TRUE(cuda_synchronize(0, writing).ok());
  ASSERT_TRUE(array.write(0, last, {.stream = adding}).ok());  // one more than are kept
  std::vector<Tensor> others;
  for (int i = 0; i < 8; ++i) others.push_back(filled(writing, 77));
  adding.let_go();
  EXPECT_EQ(first_of(array.read(0, {.stream = adding}).value(), adding), 9);
}

TEST(GradBufferCuda, MemoryIsKeptForTheStreamThatWrites) {
  OtherStream making;
  HeldStream writing;
  const auto memory = cuda_allocator(0, making).value();
  const Tensor dy = filled(making, 5);
  ASSERT_TRUE(cuda_synchronize(0, making).ok());
  Tensor other = dy;
  {
    GradBuffer buffer =
        GradBuffer::make(DType::UInt8, {kManyBytes}, 0, {.allocator = memory.get(), .stream = making}).value();
    ASSERT_TRUE(cuda_synchronize(0, making).ok());
    const Selection all = *Selection::from_index({kManyBytes}, ":");
    ASSERT_TRUE(buffer.write(all, dy, {.stream = writing}).ok());
  }
  other = filled(making, 77);  // in the memory of the buffer, which is still to be written
  writing.let_go();
  ASSERT_TRUE(cuda_synchronize(0, writing).ok());
  EXPECT_EQ(first_of(other, making), 77);
}

TEST(CudaMemory, WhatOthersOwnIsGivenUpInTheOrderOfItsStream) {
  OtherStream own;
  HeldStream other;
  bool gone = false;
  const std::shared_ptr<void> owner(&gone, [](void* flag) { *static_cast<bool*>(flag) = true; });
  std::byte memory{};
  {
    const Buffer buffer = cuda_wrap(owner, &memory, 0, own);
    EXPECT_EQ(cuda_owner(buffer), owner);
    EXPECT_TRUE(cuda_keep(buffer, own).ok());
    EXPECT_TRUE(cuda_keep(buffer, other).ok());
  }
  EXPECT_EQ(owner.use_count(), 1);
  EXPECT_EQ(cudaStreamQuery(own), cudaErrorNotReady);
  other.let_go();
  EXPECT_TRUE(cuda_synchronize(0, own).ok());
  EXPECT_EQ(cuda_owner(Buffer()), nullptr);
  EXPECT_TRUE(cuda_keep(Buffer(), other).ok());
}

TEST(TensorArrayCuda, TheFirstWriteDecidesTheDevice) {
  TensorArray array = TensorArray::make(3, DType::Float32, {.any_device = true}).value();
  TensorArray before = array.grad("before").value();
  const Tensor value = tensor_of<float>({1}, {1});
  EXPECT_FALSE(array.write(7, to_device(value)).ok());  // a failed write decides nothing
  EXPECT_EQ(array.device(), Device::cpu());
  ASSERT_TRUE(array.write(1, to_device(value)).ok());
  EXPECT_EQ(array.device(), Device::cuda(0));
  EXPECT_TRUE(is_error(array.write(0, value), StatusCode::InvalidArgument, "elements are on cuda:0"));
  EXPECT_EQ(array.grad("after").value().device(), Device::cuda(0));
  ASSERT_TRUE(before.unstack(to_device(tensor_of<float>({1, 2, 3}, {3, 1}))).ok());
  EXPECT_EQ(before.device(), Device::cuda(0));
}

TEST(TensorArrayCuda, ElementsAreOnOneDevice) {
  Arrays arrays = make(2, DType::Float32);
  const Tensor value = tensor_of<float>({1}, {1});
  EXPECT_TRUE(is_error(arrays.cpu.write(0, to_device(value)), StatusCode::InvalidArgument, "on the CPU", "cuda:0"));
  EXPECT_TRUE(is_error(arrays.device.write(0, value), StatusCode::InvalidArgument, "on cuda:0"));
  EXPECT_FALSE(TensorArray::make(1, DType::String, {.device = Device::cuda(0)}).ok());
  ASSERT_TRUE(arrays.device.write(0, to_device(value)).ok());
  std::vector<float> out(1);
  EXPECT_TRUE(
      is_error(arrays.device.read_into(0, view_of(out, {1})), StatusCode::InvalidArgument, "out is on the CPU"));
}

}  // namespace
}  // namespace backslice
