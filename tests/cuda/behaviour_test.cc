// The promises about calls on a CUDA device: streams, graphs, limits, and errors for bad input.
#include <cuda_runtime_api.h>

#include <thread>

#include "backend.h"

namespace backslice {
namespace {

using namespace testing;

class Stream {
 public:
  Stream() { EXPECT_EQ(cudaStreamCreateWithFlags(&stream_, cudaStreamNonBlocking), cudaSuccess); }
  ~Stream() { (void)cudaStreamDestroy(stream_); }
  operator cudaStream_t() const { return stream_; }

 private:
  cudaStream_t stream_ = nullptr;
};

Tensor on_gpu(DType dtype, Ints shape, CudaStream stream = nullptr) {
  return Tensor::make(dtype, shape, 0, Contents::Zero, *cuda_allocator(0, stream).value()).value();
}

Tensor on_gpu(const std::vector<float>& values, Ints shape) {
  Tensor made = on_gpu(DType::Float32, shape);
  EXPECT_TRUE(cuda_copy(made.view(), view_of(values, shape)).ok());
  EXPECT_TRUE(cuda_synchronize(0).ok());
  return made;
}

std::vector<float> floats(const Tensor& tensor, CudaStream stream = nullptr) {
  std::vector<float> values(static_cast<std::size_t>(tensor.shape().elements()));
  EXPECT_TRUE(cuda_copy(view_of(values, tensor.shape()), tensor.view(), stream).ok());
  EXPECT_TRUE(cuda_synchronize(0, stream).ok());
  return values;
}

TEST(Cuda, ListsItsDevices) {
  const auto devices = cuda_devices();
  ASSERT_TRUE(devices.ok()) << devices.status().to_string();
  ASSERT_FALSE(devices->empty());
  EXPECT_FALSE((*devices)[0].name.empty());
  EXPECT_GE(cuda_versions().value().driver, cuda_versions().value().runtime);
}

TEST(Cuda, GradientsAreCapturedIntoGraphsAndReplayed) {
  const Selection s = *Selection::from_index({8, 16}, "2:6, ::2");
  Stream stream;
  Tensor dy = on_gpu(counting<float>(32), {4, 8}), dx = on_gpu(DType::Float32, {8, 16});
  Tensor many = on_gpu(DType::Float32, {8, 16});
  const SliceGradient slices[] = {{s, dy.view()}, {s, dy.view()}};
  const Context context{.stream = stream};
  ASSERT_EQ(cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal), cudaSuccess);
  const Status overwritten = slice_grad_into(s, dy, dx, Write::Overwrite, context);
  const Status added = slice_grad_into(s, dy, dx, Write::Accumulate, context);
  const Status summed = multi_slice_grad_into({8, 16}, slices, many, Write::Overwrite, context);
  cudaGraph_t graph = nullptr;
  ASSERT_EQ(cudaStreamEndCapture(stream, &graph), cudaSuccess);
  ASSERT_TRUE(overwritten.ok()) << overwritten.to_string();
  ASSERT_TRUE(added.ok()) << added.to_string();
  ASSERT_TRUE(summed.ok()) << summed.to_string();
  cudaGraphExec_t replay = nullptr;
  ASSERT_EQ(cudaGraphInstantiate(&replay, graph, 0), cudaSuccess);
  for (int i = 0; i < 3; ++i) {
    std::vector<float> values = counting<float>(32);
    for (float& value : values) value *= static_cast<float>(i + 1);
    ASSERT_TRUE(cuda_copy(dy.view(), view_of(values, {4, 8}), stream).ok());
    ASSERT_EQ(cudaGraphLaunch(replay, stream), cudaSuccess);
    const auto expected = elements<float>(slice_grad(s, view_of(values, {4, 8})).value());
    const auto got = floats(dx, stream), sum = floats(many, stream);
    for (std::size_t k = 0; k < expected.size(); ++k) {
      ASSERT_EQ(got[k], 2 * expected[k]) << i << " " << k;
      ASSERT_EQ(sum[k], 2 * expected[k]) << i << " " << k;
    }
  }
  (void)cudaGraphExecDestroy(replay);
  (void)cudaGraphDestroy(graph);
}

// Counts the memory of another allocator that others hold.
class Counting final : public Allocator {
 public:
  explicit Counting(Allocator& memory) : memory_(memory) {}
  Result<Buffer> allocate(std::int64_t bytes, Contents contents) override {
    auto given = memory_.allocate(bytes, contents);
    if (!given) return given;
    most = std::max(most, now += bytes);
    return Buffer::own(given->data(), [this, bytes, held = *given](std::byte*) { now -= bytes; }, device());
  }
  Device device() const override { return memory_.device(); }

  std::int64_t now = 0, most = 0;

 private:
  Allocator& memory_;
};

TEST(Cuda, ManySlicesTakeNoMoreMemoryThanIsToldAhead) {
  for (const std::int64_t count : {2, 40, 3000}) {
    const std::int64_t shape[] = {3, 3001, 5};
    Tensor dy = on_gpu(counting<float>(3 * 7 * 5), {3, 7, 5}), dx = on_gpu(DType::Float32, shape);
    std::vector<SliceGradient> slices;
    for (std::int64_t t = 0; t < count; ++t) {
      slices.push_back({*Selection::from_index(shape, {SliceRange{}, SliceRange{t % 2990, t % 2990 + 7}}), dy.view()});
    }
    const auto memory = cuda_allocator(0).value();
    for (const Write write : {Write::Overwrite, Write::Accumulate}) {
      Counting counted(*memory);
      const Status done = multi_slice_grad_into(shape, slices, dx, write, {.allocator = &counted});
      ASSERT_TRUE(done.ok()) << done.to_string();
      EXPECT_GT(counted.most, 0);
      EXPECT_LE(counted.most, multi_slice_grad_scratch(count, 3).value());
    }
    ASSERT_TRUE(cuda_synchronize(0).ok());
  }
}

// A user's allocator, stream-ordered. Its memory is poisoned in stream order, at allocation and at release.
class Poisoning final : public Allocator {
 public:
  explicit Poisoning(cudaStream_t stream) : stream_(stream) {}
  Device device() const override { return Device::cuda(0); }
  Result<Buffer> allocate(std::int64_t bytes, Contents contents) override {
    const auto size = static_cast<std::size_t>(bytes);
    void* data = nullptr;
    if (cudaMallocAsync(&data, size, stream_) != cudaSuccess) return Status(StatusCode::ResourceExhausted, "no memory");
    EXPECT_EQ(cudaMemsetAsync(data, contents == Contents::Zero ? 0 : 0xff, size, stream_), cudaSuccess);
    return Buffer::own(
        static_cast<std::byte*>(data),
        [stream = stream_, size](std::byte* p) {
          EXPECT_EQ(cudaMemsetAsync(p, 0xff, size, stream), cudaSuccess);
          EXPECT_EQ(cudaFreeAsync(p, stream), cudaSuccess);
        },
        device());
  }

 private:
  cudaStream_t stream_;
};

TEST(Cuda, MemoryMayBePoisonedInTheOrderOfTheStreamWhenItComesBack) {
  constexpr std::int64_t kRows = 3001, kColumns = 512;
  const std::vector<float> values = counting<float>(7 * kColumns);
  std::vector<SliceGradient> slices, on_cpu;
  Tensor dy = on_gpu(values, {7, kColumns});
  for (std::int64_t t = 0; t < 3000; ++t) {  // their tables need memory
    const Selection rows = *Selection::from_index({kRows, kColumns}, {SliceRange{t % 2990, t % 2990 + 7}});
    slices.push_back({rows, dy.view()});
    on_cpu.push_back({rows, view_of(values, {7, kColumns})});
  }
  // Of another shape than the slice, and transposed, so that it is copied first.
  const std::int64_t turned[] = {kColumns, 7}, strides[] = {4, 4 * kColumns};
  const View flat = View::strided(dy.view().data, DType::Float32, turned, strides, 0, Device::cuda(0)).value();
  const OnnxSlice rows{{0}, {7}};
  const auto sum = elements<float>(multi_slice_grad({kRows, kColumns}, on_cpu).value());
  const auto one = elements<float>(
      onnx_slice_grad(ConstView::strided(values.data(), turned, {1, kColumns}).value(), {kRows, kColumns}, rows)
          .value());
  Stream stream;
  Poisoning allocator(stream);
  const Context context{.allocator = &allocator, .stream = stream};
  for (int i = 0; i < 10; ++i) {
    const auto many = multi_slice_grad({kRows, kColumns}, slices, context);
    const auto copied = onnx_slice_grad(flat, {kRows, kColumns}, rows, context);
    ASSERT_TRUE(many.ok()) << many.status();
    ASSERT_TRUE(copied.ok()) << copied.status();
    EXPECT_EQ(floats(*many, stream), sum);
    EXPECT_EQ(floats(*copied, stream), one);
  }
}

TEST(Cuda, StreamsAndThreadsAtOnce) {
  const Selection s = *Selection::from_index({512, 512}, ":, ::3");
  const std::vector<float> values = counting<float>(s.result_shape().elements());
  const auto expected = elements<float>(slice_grad(s, view_of(values, s.result_shape())).value());
  std::vector<std::thread> threads;
  std::vector<int> wrong(4, 0);
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([&, t] {
      Stream stream;
      Tensor dy = on_gpu(values, s.result_shape());
      for (int i = 0; i < 20; ++i) {
        const auto dx = slice_grad(s, dy, {.stream = stream});
        wrong[static_cast<std::size_t>(t)] += !dx.ok() || floats(*dx, stream) != expected;
      }
      EXPECT_TRUE(cuda_synchronize(0, stream).ok());
    });
  }
  for (auto& thread : threads) thread.join();
  EXPECT_EQ(wrong, std::vector<int>(4, 0));
}

TEST(Cuda, MemoryThatRunsOutIsAnError) {
  const Selection s = *Selection::from_index({1LL << 40}, "::1073741824");
  const auto dx = slice_grad(s, on_gpu(DType::Float32, {1024}));
  EXPECT_TRUE(is_error(dx, StatusCode::ResourceExhausted, "cudaMallocAsync", "cuda:0"));
  EXPECT_TRUE(slice(*Selection::from_index({4}, "1:3"), on_gpu(DType::Float32, {4})).ok());
}

TEST(Cuda, MemoryOfTheHostIsRefused) {
  std::vector<float> host(4);
  View wrong = view_of(host, {4});
  wrong.device = Device::cuda(0);
  EXPECT_TRUE(is_error(slice(*Selection::from_index({4}, "1:3"), wrong), StatusCode::InvalidArgument,
                       "x is said to be on cuda:0, but its memory is on the CPU"));
  Tensor dy = on_gpu(DType::Float32, {2});
  EXPECT_TRUE(
      is_error(slice_grad_into(*Selection::from_index({4}, "1:3"), dy, wrong), StatusCode::InvalidArgument, "out"));
  void* pinned = nullptr;
  ASSERT_EQ(cudaMallocHost(&pinned, 64), cudaSuccess);
  wrong.data = static_cast<std::byte*>(pinned);
  EXPECT_TRUE(is_error(slice(*Selection::from_index({4}, "1:3"), wrong), StatusCode::InvalidArgument, "on the CPU"));
  EXPECT_EQ(cudaFreeHost(pinned), cudaSuccess);
}

TEST(Cuda, ErrorsThatOthersLeftBehindAreNotTheirs) {
  Tensor x = on_gpu(DType::Float32, {4});
  EXPECT_NE(cudaSetDevice(99), cudaSuccess);  // the thread remembers it
  const auto y = slice(*Selection::from_index({4}, "1:3"), x);
  EXPECT_TRUE(y.ok()) << y.status().to_string();
  {
    const Tensor dropped = on_gpu(DType::Float32, {4});
  }
  EXPECT_EQ(cudaGetLastError(), cudaErrorInvalidDevice);
}

TEST(Cuda, DevicesThatDoNotExistAreRefused) {
  EXPECT_TRUE(is_error(cuda_allocator(99), StatusCode::InvalidArgument, "cudaSetDevice", "cuda:99"));
  Tensor x = on_gpu(DType::Float32, {4});
  View elsewhere = x.view();
  elsewhere.device = Device::cuda(1);
  EXPECT_TRUE(is_error(slice(*Selection::from_index({4}, "1:3"), elsewhere), StatusCode::InvalidArgument,
                       "said to be on cuda:1, but its memory is on cuda:0"));
  EXPECT_TRUE(is_error(slice_grad_into(*Selection::from_index({4}, ":"), x, elsewhere), StatusCode::InvalidArgument,
                       "out is on cuda:1, but dy is on cuda:0"));
}

TEST(Cuda, OperationsWithoutAKernelRefuseItsMemory) {
  Tensor x = on_gpu(DType::Float32, {4});
  EXPECT_TRUE(is_error(x.elements<float>(), StatusCode::Unimplemented));
  EXPECT_TRUE(is_error(slice(*Selection::from_index({4}, "1:3"), x, {.allocator = &pool_allocator()}),
                       StatusCode::InvalidArgument, "allocator"));
}

// -- Large tensors, written and read on the device alone

bool all_equal(const std::byte* data, std::int64_t bytes, std::uint8_t expected) {
  std::vector<std::uint8_t> block(1 << 20);
  for (std::int64_t at = 0; at < bytes; at += std::ssize(block)) {
    const auto now = static_cast<std::size_t>(std::min<std::int64_t>(std::ssize(block), bytes - at));
    if (cudaMemcpy(block.data(), data + at, now, cudaMemcpyDeviceToHost) != cudaSuccess) return false;
    if (std::any_of(block.begin(), block.begin() + static_cast<std::ptrdiff_t>(now),
                    [&](std::uint8_t b) { return b != expected; })) {
      return false;
    }
  }
  return true;
}

TEST(CudaLarge, MoreThanTwoToThe31Elements) {
  const std::int64_t elements = (3LL << 30) + 5;
  const Selection s = *Selection::from_index({elements}, "1000003:3221220000");
  Tensor dy = on_gpu(DType::UInt8, s.result_shape());
  ASSERT_EQ(cudaMemset(dy.view().data, 7, static_cast<std::size_t>(dy.view().elements())), cudaSuccess);
  const auto dx = slice_grad(s, dy);
  ASSERT_TRUE(dx.ok()) << dx.status().to_string();
  const std::int64_t start = 1000003, stop = 3221220000;
  EXPECT_TRUE(all_equal(dx->data(), start, 0));
  EXPECT_TRUE(all_equal(dx->data() + start, 1 << 20, 7));
  EXPECT_TRUE(all_equal(dx->data() + (1LL << 31) - 4096, 8192, 7));
  EXPECT_TRUE(all_equal(dx->data() + stop - (1 << 20), 1 << 20, 7));
  EXPECT_TRUE(all_equal(dx->data() + stop, elements - stop, 0));
  const SliceGradient slices[] = {{s, dy.view()}};
  const auto sum = multi_slice_grad({elements}, slices);
  ASSERT_TRUE(sum.ok()) << sum.status().to_string();
  EXPECT_TRUE(all_equal(sum->data() + start - 4096, 4096, 0));
  EXPECT_TRUE(all_equal(sum->data() + start, 4096, 7));
  EXPECT_TRUE(all_equal(sum->data() + (1LL << 31) - 4096, 8192, 7));
  EXPECT_TRUE(all_equal(sum->data() + stop, elements - stop, 0));
}

TEST(CudaLarge, AResultOfSixGigabytes) {
  const Selection s = *Selection::from_index({1536, 1 << 20}, "::2, 1::3");
  Tensor dy = on_gpu(DType::Float32, s.result_shape());
  ASSERT_EQ(cudaMemset(dy.view().data, 1, static_cast<std::size_t>(dy.view().elements() * 4)), cudaSuccess);
  const auto dx = slice_grad(s, dy);
  ASSERT_TRUE(dx.ok()) << dx.status().to_string();
  for (std::int64_t row : {0, 1, 2, 1023, 1024, 1534, 1535}) {
    std::vector<std::uint32_t> got(1 << 20);
    ASSERT_EQ(cudaMemcpy(got.data(), dx->data() + row * (4LL << 20), 4 << 20, cudaMemcpyDeviceToHost), cudaSuccess);
    for (std::size_t i = 0; i < got.size(); ++i) {
      ASSERT_EQ(got[i], row % 2 == 0 && i % 3 == 1 ? 0x01010101u : 0u) << row << " " << i;
    }
  }
}

}  // namespace
}  // namespace backslice
