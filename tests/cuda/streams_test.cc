// The order of work on streams, on a fake device that runs nothing and records the order. The linker replaces the
// functions of the CUDA runtime that order streams and allocate memory (-Wl,--wrap); the device's memory is the CPU's.
#include <cuda_runtime_api.h>

#include <cstdlib>
#include <cstring>
#include <map>
#include <mutex>
#include <set>
#include <thread>

#include "backslice/cuda.h"
#include "backslice/grad_buffer.h"
#include "backslice/tensor_array.h"
#include "memory/tensor_rows.h"
#include "testing.h"

namespace backslice {
namespace {

// How many things of each stream come before something.
using Clock = std::map<cudaStream_t, int>;

void catch_up(Clock& into, const Clock& from) {
  for (const auto& [stream, count] : from) into[stream] = std::max(into[stream], count);
}

struct FakeDevice {
  std::map<cudaStream_t, Clock> streams;
  std::map<cudaEvent_t, Clock> events;
  std::set<void*> allocated, of_graphs;
  std::map<void*, Clock> freed;  // the work before it
  Clock awaited;                 // by the CPU
  std::set<cudaStream_t> captured, of_threads;
  bool relaxed = false;      // calls that stricter modes of captures forbid are allowed
  bool invalidated = false;  // by a call that is not allowed during a capture
  cudaError_t launch = cudaSuccess;
  int events_left = 1 << 30;  // number of allocations that succeed
  int events_made = 0;
  bool is_done = false;  // all that is queued
  cudaError_t last = cudaSuccess;
  std::mutex mutex;

  void reset() {
    for (void* data : allocated) std::free(data);
    streams.clear(), events.clear(), allocated.clear(), of_graphs.clear(), freed.clear(), awaited.clear();
    captured.clear(), of_threads.clear();
    relaxed = invalidated = false;
    last = launch = cudaSuccess;
    events_left = 1 << 30, events_made = 0;
    is_done = false;
  }
  // Maps a handle to a stream of this thread: 2 is another stream on each thread. The default stream has two handles,
  // and waits for all other streams.
  cudaStream_t meant(cudaStream_t handle) {
    if (handle == cudaStreamPerThread) {
      thread_local const char mark = 0;
      of_threads.insert(reinterpret_cast<cudaStream_t>(const_cast<char*>(&mark)));
      return reinterpret_cast<cudaStream_t>(const_cast<char*>(&mark));
    }
    if (reinterpret_cast<std::uintptr_t>(handle) > 1) return handle;
    for (cudaStream_t other : of_threads) catch_up(streams[nullptr], Clock(streams[other]));
    return nullptr;
  }
  bool is_captured(cudaStream_t stream) const { return captured.count(stream) > 0; }
  // The default stream waits for all others, and so may not be used during a capture.
  bool is_forbidden(cudaStream_t stream) const {
    return !captured.empty() && reinterpret_cast<std::uintptr_t>(stream) <= 1;
  }
  // Makes allocation and release on any other stream an error.
  bool is_too_strict(cudaStream_t stream) const { return !captured.empty() && !is_captured(stream) && !relaxed; }
  cudaError_t told(cudaError_t error) {
    if (error != cudaSuccess) last = error;
    return error;
  }
  cudaError_t invalidate() {
    invalidated = true;
    return told(cudaErrorStreamCaptureUnsupported);
  }
  cudaError_t queue(cudaStream_t stream) {
    if (is_forbidden(stream)) return invalidate();
    if (!is_captured(stream)) ++streams[meant(stream)][meant(stream)];
    return cudaSuccess;
  }
  void give_back(void* data, const Clock& behind) {
    freed[data] = behind;
    allocated.erase(data);
    std::free(data);
  }
} fake;

#define LOCKED const std::lock_guard lock(fake.mutex)

}  // namespace
}  // namespace backslice

using backslice::catch_up;
using backslice::fake;

extern "C" {
cudaError_t __wrap_cudaGetDevice(int* device) {
  *device = 0;
  return cudaSuccess;
}
cudaError_t __wrap_cudaSetDevice(int) { return cudaSuccess; }
cudaError_t __wrap_cudaPointerGetAttributes(cudaPointerAttributes* attributes, const void* data) {
  *attributes = {};
  attributes->type = cudaMemoryTypeDevice;
  attributes->devicePointer = const_cast<void*>(data);
  return cudaSuccess;
}
cudaError_t __wrap_cudaMallocAsync(void** data, std::size_t size, cudaStream_t stream) {
  LOCKED;
  if (fake.is_too_strict(stream)) return fake.invalidate();
  const std::size_t rounded = (size + 255) / 256 * 256;
  *data = std::memset(std::aligned_alloc(256, rounded), 0, rounded);
  fake.allocated.insert(*data);
  if (fake.is_captured(stream)) fake.of_graphs.insert(*data);
  return fake.queue(stream);
}
cudaError_t __wrap_cudaFreeAsync(void* data, cudaStream_t stream) {
  LOCKED;
  if (fake.is_too_strict(stream) || fake.is_forbidden(stream) ||
      (fake.is_captured(stream) && fake.of_graphs.count(data) == 0)) {
    return fake.invalidate();
  }
  fake.give_back(data, fake.streams[fake.meant(stream)]);
  return cudaSuccess;
}
cudaError_t __wrap_cudaFree(void* data) {
  LOCKED;
  if (!fake.captured.empty() && !fake.relaxed) return fake.invalidate();
  fake.give_back(data, fake.awaited);
  return cudaSuccess;
}
cudaError_t __wrap_cudaMemsetAsync(void* data, int value, std::size_t bytes, cudaStream_t stream) {
  LOCKED;
  std::memset(data, value, bytes);
  return fake.queue(stream);
}
cudaError_t __wrap_cudaMemcpyAsync(void* to, const void* from, std::size_t bytes, cudaMemcpyKind, cudaStream_t stream) {
  LOCKED;
  std::memcpy(to, from, bytes);
  return fake.queue(stream);
}
cudaError_t __wrap_cudaLaunchKernel(const void*, dim3, dim3, void**, std::size_t, cudaStream_t stream) {
  LOCKED;
  if (fake.launch != cudaSuccess) return fake.told(fake.launch);
  return fake.queue(stream);
}
cudaError_t __wrap_cudaStreamSynchronize(cudaStream_t stream) {
  LOCKED;
  if (fake.is_captured(stream) || fake.is_forbidden(stream)) return fake.invalidate();
  catch_up(fake.awaited, fake.streams[fake.meant(stream)]);
  return cudaSuccess;
}
cudaError_t __wrap_cudaDeviceSynchronize() {
  LOCKED;
  if (!fake.captured.empty()) return fake.invalidate();
  for (const auto& [stream, clock] : fake.streams) catch_up(fake.awaited, clock);
  return cudaSuccess;
}
cudaError_t __wrap_cudaEventCreateWithFlags(cudaEvent_t* event, unsigned) {
  LOCKED;
  if (fake.events_left-- <= 0) return fake.told(cudaErrorMemoryAllocation);
  static std::uintptr_t number = 0;
  *event = reinterpret_cast<cudaEvent_t>(++number);
  fake.events[*event];
  ++fake.events_made;
  return cudaSuccess;
}
cudaError_t __wrap_cudaEventDestroy(cudaEvent_t event) {
  LOCKED;
  return fake.told(fake.events.erase(event) == 1 ? cudaSuccess : cudaErrorInvalidResourceHandle);
}
cudaError_t __wrap_cudaEventRecord(cudaEvent_t event, cudaStream_t stream) {
  LOCKED;
  if (fake.is_forbidden(stream)) return fake.invalidate();
  fake.events[event] = fake.streams[fake.meant(stream)];
  return cudaSuccess;
}
cudaError_t __wrap_cudaEventQuery(cudaEvent_t event) {
  LOCKED;
  if (!fake.captured.empty() && !fake.relaxed) return fake.invalidate();
  return fake.told(fake.is_done || fake.events.at(event).empty() ? cudaSuccess : cudaErrorNotReady);
}
cudaError_t __wrap_cudaEventSynchronize(cudaEvent_t event) {
  LOCKED;
  if (!fake.captured.empty() && !fake.relaxed) return fake.invalidate();
  catch_up(fake.awaited, fake.events.at(event));
  return cudaSuccess;
}
cudaError_t __wrap_cudaStreamWaitEvent(cudaStream_t stream, cudaEvent_t event, unsigned) {
  LOCKED;
  if (fake.is_captured(stream) || fake.is_forbidden(stream)) return fake.invalidate();
  catch_up(fake.streams[fake.meant(stream)], fake.events.at(event));
  return cudaSuccess;
}
cudaError_t __wrap_cudaStreamGetId(cudaStream_t stream, unsigned long long* number) {
  LOCKED;
  if (fake.is_captured(stream)) return fake.invalidate();
  *number = reinterpret_cast<std::uintptr_t>(fake.meant(stream));
  return cudaSuccess;
}
cudaError_t __wrap_cudaStreamIsCapturing(cudaStream_t stream, cudaStreamCaptureStatus* status) {
  LOCKED;
  if (fake.is_forbidden(stream)) return fake.told(cudaErrorStreamCaptureImplicit);
  *status = fake.is_captured(stream) ? cudaStreamCaptureStatusActive : cudaStreamCaptureStatusNone;
  return cudaSuccess;
}
cudaError_t __wrap_cudaThreadExchangeStreamCaptureMode(cudaStreamCaptureMode* mode) {
  LOCKED;
  const bool before = std::exchange(fake.relaxed, *mode == cudaStreamCaptureModeRelaxed);
  *mode = before ? cudaStreamCaptureModeRelaxed : cudaStreamCaptureModeGlobal;
  return cudaSuccess;
}
cudaError_t __wrap_cudaGetLastError() {
  LOCKED;
  return std::exchange(fake.last, cudaSuccess);
}
}

namespace backslice {
namespace {

using namespace testing;

class Streams : public ::testing::Test {
 protected:
  Streams() { fake.reset(); }
  ~Streams() override {
    EXPECT_FALSE(fake.invalidated) << "a capture was invalidated";
    EXPECT_EQ(fake.last, cudaSuccess) << "an error was left for others to find";
    EXPECT_TRUE(fake.allocated.empty()) << fake.allocated.size() << " blocks were not given back";
    EXPECT_TRUE(fake.events.empty()) << fake.events.size() << " events were not destroyed";
    fake.reset();
  }

  static CudaStream stream(std::uintptr_t number) { return reinterpret_cast<CudaStream>(0x1000 + number); }
  const CudaStream home_ = stream(0), other_ = stream(1);

  static Buffer memory(CudaStream stream) {
    return cuda_allocator(0, stream).value()->allocate(4, Contents::Uninitialised).value();
  }
  // Elements of a container.
  static Tensor bytes(CudaStream stream) {
    const auto memory = cuda_allocator(0, stream).value();
    return Tensor::make(DType::UInt8, {4}, 0, Contents::Zero, *memory).value();
  }
  const PartialShape shape_ = PartialShape::make({4}).value();

  // How much is queued on a stream after this.
  static int work(CudaStream stream) {
    EXPECT_EQ(fake.queue(stream), cudaSuccess);
    return fake.streams[stream][stream];
  }
  static void capture(CudaStream stream) { fake.captured.insert(stream); }
  static void end_captures() { fake.captured.clear(); }
};

TEST_F(Streams, MemoryIsGivenBackBehindTheStreamsThatUseIt) {
  Buffer buffer = memory(home_);
  void* const data = buffer.data();
  const int used = work(other_);
  ASSERT_TRUE(cuda_keep(buffer, other_).ok());
  work(other_);
  buffer = {};
  EXPECT_EQ(fake.freed.at(data)[other_], used);
  EXPECT_EQ(fake.freed.at(data)[home_], 1);
}

TEST_F(Streams, MemoryThatIsLetGoOfDuringACaptureIsGivenBackAfterIt) {
  Buffer buffer = memory(home_);
  void* const data = buffer.data();
  const int used = work(other_), before = work(home_);
  ASSERT_TRUE(cuda_keep(buffer, other_).ok());
  capture(home_);
  buffer = {};
  EXPECT_EQ(fake.freed.count(data), 0) << "what its stream had queued before the capture may still use it";
  Buffer another = memory(other_);  // still captured
  EXPECT_EQ(fake.freed.count(data), 0);
  end_captures();
  another = memory(other_);
  ASSERT_EQ(fake.freed.count(data), 1);
  EXPECT_EQ(fake.freed.at(data)[other_], used);
  EXPECT_EQ(fake.freed.at(data)[home_], before);
}

TEST_F(Streams, MemoryOfAGraphIsGivenBackInIt) {
  capture(home_);
  Buffer buffer = memory(home_);
  void* const data = buffer.data();
  buffer = {};
  EXPECT_EQ(fake.freed.count(data), 1);
}

TEST_F(Streams, MemoryOfTheDefaultStreamIsNotGivenBackWhileAnotherIsCaptured) {
  Buffer buffer = memory(nullptr);
  void* const data = buffer.data();
  capture(other_);
  buffer = {};
  EXPECT_EQ(fake.freed.count(data), 0);
  end_captures();
  memory(other_);
  EXPECT_EQ(fake.freed.count(data), 1);
}

TEST_F(Streams, MemoryOfOneStreamIsTakenAndGivenBackWhileAnotherIsCaptured) {
  Buffer buffer = memory(home_);
  void* const data = buffer.data();
  capture(other_);
  buffer = {};
  EXPECT_EQ(fake.freed.count(data), 1);
  buffer = memory(home_);
  end_captures();
}

TEST_F(Streams, WhatOthersOwnIsLetGoOfDuringACaptureWhenItsUsesAreDone) {
  bool gone = false;
  const std::shared_ptr<void> owner(&gone, [](void* flag) { *static_cast<bool*>(flag) = true; });
  std::byte byte{};
  Buffer buffer = cuda_wrap(owner, &byte, 0, home_);
  const int used = work(other_);
  ASSERT_TRUE(cuda_keep(buffer, other_).ok());
  capture(home_);
  buffer = {};
  EXPECT_EQ(owner.use_count(), 1);
  EXPECT_EQ(fake.awaited[other_], used);
}

TEST_F(Streams, ContiguousModeOrdersTheValueThatItCopies) {
  TensorArray array =
      TensorArray::make(2, DType::UInt8, {.element_shape = shape_, .contiguous = true, .device = Device::cuda(0)},
                        {.stream = other_})
          .value();
  void* data = nullptr;
  int copied = 0;
  {
    const Tensor value = bytes(home_);
    data = value.buffer().data();
    const int made = work(home_);
    ASSERT_TRUE(array.write(0, value, {.stream = other_}).ok());
    EXPECT_EQ(fake.streams[other_][home_], made) << "the value must be made before it is copied";
    copied = fake.streams[other_][other_];
  }
  EXPECT_EQ(fake.freed.at(data)[other_], copied) << "the value must be copied before its memory is used again";
}

// A user's allocator, stream-ordered: released memory is poisoned after the work that its stream has queued by then.
class PoisoningAllocator final : public Allocator {
 public:
  struct Return {
    int queued, awaited;
  };
  PoisoningAllocator(CudaStream stream, std::vector<Return>& returns) : stream_(stream), returns_(returns) {}
  Device device() const override { return Device::cuda(0); }
  Result<Buffer> allocate(std::int64_t bytes, Contents) override {
    void* data = nullptr;
    EXPECT_EQ(cudaMallocAsync(&data, static_cast<std::size_t>(bytes), stream_), cudaSuccess);
    return Buffer::own(
        static_cast<std::byte*>(data),
        [stream = stream_, bytes, &returns = returns_](std::byte* p) {
          returns.push_back({fake.streams[stream][stream], fake.awaited[stream]});
          EXPECT_EQ(cudaMemsetAsync(p, 0xff, static_cast<std::size_t>(bytes), stream), cudaSuccess);
          EXPECT_EQ(cudaFreeAsync(p, stream), cudaSuccess);
        },
        device());
  }

 private:
  CudaStream stream_;
  std::vector<Return>& returns_;
};

TEST_F(Streams, MemoryOfAUsersAllocatorComesBackWhenAllThatUsesItIsQueuedAndNothingWasWaitedFor) {
  std::vector<PoisoningAllocator::Return> returns;
  PoisoningAllocator allocator(home_, returns);
  Tensor values = Tensor::make(DType::UInt8, {8}, 0, Contents::Zero, allocator).value();
  const View transposed = View::strided(values.view().data, DType::UInt8, {2, 2}, {2, 4}, 0, Device::cuda(0)).value();
  const Context context{.allocator = &allocator, .stream = home_};
  const OnnxSlice whole{{0}, {4}};  // of another shape than the gradient's, so that it is copied first
  {
    const auto dx = onnx_slice_grad(transposed, {4}, whole, context);
    ASSERT_TRUE(dx.ok()) << dx.status();
    ASSERT_EQ(returns.size(), 1) << "of the copy";
    EXPECT_EQ(fake.streams[home_][home_], returns[0].queued + 1) << "only the poison is queued behind it";
  }
  ASSERT_EQ(returns.size(), 2) << "of the result, too";
  for (const auto& one : returns) EXPECT_GT(one.queued, one.awaited) << "what is queued still uses it";
}

GradBuffer buffer_on(CudaStream stream) {
  const auto memory = cuda_allocator(0, stream).value();
  return GradBuffer::make(DType::UInt8, {4}, 0, {.allocator = memory.get(), .stream = stream}).value();
}

TEST_F(Streams, AGradBufferIsKeptForWhatAFailedCallHadQueued) {
  const Selection all = *Selection::from_index({4}, ":"), some = *Selection::from_index({4}, ":2");
  const Tensor dy = bytes(other_), two = rows_of(dy, 0, 2);
  void* data = nullptr;
  int queued = 0;
  {
    GradBuffer buffer = buffer_on(home_);
    data = buffer.tensor().buffer().data();
    ASSERT_TRUE(buffer.add(some, two, {.stream = home_}).ok());
    work(other_);  // stands for the work that an operation queues before it fails
    fake.launch = cudaErrorLaunchOutOfResources;
    EXPECT_FALSE(buffer.add(all, dy, {.stream = other_}).ok());
    fake.launch = cudaSuccess;
    queued = fake.streams[other_][other_];
  }
  EXPECT_EQ(fake.freed.at(data)[other_], queued);
}

TEST_F(Streams, AChangeThatIsQueuedCountsThoughTheMemoryCannotBeKeptForIt) {
  const Selection all = *Selection::from_index({4}, ":");
  const Tensor dy = bytes(home_);
  GradBuffer buffer = buffer_on(home_);
  fake.events_left = 1;  // for the work that the call waits for
  const Status written = buffer.write(all, dy, {.stream = other_});
  EXPECT_TRUE(written.ok()) << written;
  EXPECT_EQ(fake.awaited[other_], fake.streams[other_][other_]) << "so it is waited for";
  EXPECT_EQ(buffer.regions().size(), 1);
}

TEST_F(Streams, ABlockIsKeptForTheZerosOfACancelledWrite) {
  int asked = 0;
  const CancelledTest cancelled = [&] { return ++asked > 1; };
  void* data = nullptr;
  int zeroed = 0;
  {
    TensorArray array =
        TensorArray::make(2, DType::UInt8, {.element_shape = shape_, .contiguous = true, .device = Device::cuda(0)},
                          {.stream = home_})
            .value();
    data = *fake.allocated.begin();
    const Tensor value = bytes(other_);
    EXPECT_TRUE(is_error(array.write(0, value, {.cancelled = &cancelled, .stream = other_}), StatusCode::Cancelled));
    zeroed = fake.streams[other_][other_];
  }
  EXPECT_EQ(fake.freed.at(data)[other_], zeroed);
}

// cudaStreamPerThread is one handle for the streams of all threads.
TEST_F(Streams, MemoryOfAThreadsStreamIsGivenBackBehindItByAnotherThread) {
  Buffer made = memory(cudaStreamPerThread), used = memory(home_);
  void* const made_data = made.data();
  void* const used_data = used.data();
  ASSERT_EQ(fake.queue(cudaStreamPerThread), cudaSuccess);
  ASSERT_TRUE(cuda_keep(used, cudaStreamPerThread).ok());
  const cudaStream_t here = fake.meant(cudaStreamPerThread);
  const int queued = fake.streams[here][here];
  std::thread other([&] {
    Tensor read = bytes(cudaStreamPerThread);
    EXPECT_TRUE(cuda_await(made, cudaStreamPerThread).ok());
    EXPECT_EQ(fake.streams[fake.meant(cudaStreamPerThread)][here], queued);
    made = used = {};
  });
  other.join();
  EXPECT_EQ(fake.freed.at(made_data)[here], queued);
  EXPECT_EQ(fake.freed.at(used_data)[here], queued);
}

TEST_F(Streams, UsesThatAreDoneAreForgotten) {
  const Buffer buffer = memory(home_);
  const auto use_on_ten_streams = [&](std::uintptr_t first) {
    for (std::uintptr_t i = first; i < first + 10; ++i) {
      work(stream(i));
      ASSERT_TRUE(cuda_keep(buffer, stream(i)).ok());
    }
  };
  use_on_ten_streams(10);
  EXPECT_EQ(fake.events.size(), 10);
  fake.is_done = true;
  capture(other_);  // does not matter
  use_on_ten_streams(20);
  EXPECT_LE(fake.events.size(), 1);
  end_captures();
}

TEST_F(Streams, TheStreamOfManyElementsIsWaitedForOnce) {
  TensorArray array = TensorArray::make(50, DType::UInt8, {.device = Device::cuda(0)}).value();
  for (std::int64_t i = 0; i < 50; ++i) ASSERT_TRUE(array.write(i, bytes(i % 2 == 0 ? home_ : other_)).ok());
  const int made_home = work(home_), made_other = work(other_);
  fake.events_made = 0;
  Tensor stacked = array.stack({.stream = stream(2)}).value();
  EXPECT_EQ(fake.streams[stream(2)][home_], made_home);
  EXPECT_EQ(fake.streams[stream(2)][other_], made_other);
  EXPECT_EQ(fake.events_made, 2 + 50) << "one per stream, and one per element that is kept";
}

TEST_F(Streams, ThreadsKeepAndAwaitOneBufferAtOnce) {
  Buffer buffer = memory(home_);
  void* const data = buffer.data();
  std::vector<std::thread> threads;
  for (std::uintptr_t t = 0; t < 4; ++t) {
    threads.emplace_back([&, t] {
      for (std::uintptr_t i = 0; i < 200; ++i) {
        const CudaStream mine = stream(1 + (t + i) % 3);
        ASSERT_TRUE(cuda_await(buffer, mine).ok());
        char byte = 0;
        ASSERT_EQ(__wrap_cudaMemsetAsync(&byte, 0, 1, mine), cudaSuccess);
        ASSERT_TRUE(cuda_keep(buffer, mine).ok());
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_LE(fake.events.size(), 3);
  buffer = {};
  for (std::uintptr_t i = 1; i <= 3; ++i) {
    EXPECT_EQ(fake.freed.at(data)[stream(i)], fake.streams[stream(i)][stream(i)]) << i;
  }
}

}  // namespace
}  // namespace backslice
