// A device that fails when it is told to: what becomes of a call then, and of the memory that it had taken. The
// functions of the CUDA runtime that the library calls are replaced by the linker (-Wl,--wrap); kernels do nothing, and
// the device's memory is the CPU's.
#include <cuda_runtime_api.h>

#include <cstdlib>
#include <cstring>
#include <set>

#include "backslice/cuda.h"
#include "testing.h"

namespace backslice {
namespace {

struct FakeDevice {
  cudaError_t launch = cudaSuccess, wait = cudaSuccess, allocate = cudaSuccess, free_in_order = cudaSuccess;
  cudaError_t last = cudaSuccess;  // what cudaGetLastError() will tell
  int launches_before_failing = 0;
  std::set<void*> allocated;
  int freed_after_waiting = 0;
} fake;

cudaError_t told(cudaError_t error) {
  if (error != cudaSuccess) fake.last = error;
  return error;
}

}  // namespace
}  // namespace backslice

using backslice::fake;
using backslice::told;

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
cudaError_t __wrap_cudaMallocAsync(void** data, std::size_t size, cudaStream_t) {
  if (fake.allocate != cudaSuccess) return told(fake.allocate);
  const std::size_t rounded = (size + 255) / 256 * 256;
  *data = std::memset(std::aligned_alloc(256, rounded), 0, rounded);  // what kernels that do nothing leave behind
  fake.allocated.insert(*data);
  return cudaSuccess;
}
cudaError_t __wrap_cudaFree(void* data) {
  fake.allocated.erase(data);
  std::free(data);
  ++fake.freed_after_waiting;
  return cudaSuccess;
}
cudaError_t __wrap_cudaFreeAsync(void* data, cudaStream_t) {
  if (fake.free_in_order != cudaSuccess) return told(fake.free_in_order);
  fake.allocated.erase(data);
  std::free(data);
  return cudaSuccess;
}
cudaError_t __wrap_cudaMemsetAsync(void* data, int value, std::size_t bytes, cudaStream_t) {
  std::memset(data, value, bytes);
  return cudaSuccess;
}
cudaError_t __wrap_cudaMemcpyAsync(void* to, const void* from, std::size_t bytes, cudaMemcpyKind, cudaStream_t) {
  std::memcpy(to, from, bytes);
  return cudaSuccess;
}
cudaError_t __wrap_cudaLaunchKernel(const void*, dim3, dim3, void**, std::size_t, cudaStream_t) {
  return fake.launches_before_failing-- > 0 ? cudaSuccess : told(fake.launch);
}
cudaError_t __wrap_cudaStreamSynchronize(cudaStream_t) { return told(fake.wait); }
cudaError_t __wrap_cudaDeviceSynchronize() { return told(fake.wait); }
cudaError_t __wrap_cudaGetLastError() { return std::exchange(fake.last, cudaSuccess); }
}

namespace backslice {
namespace {

using namespace testing;

constexpr cudaError_t kSticky[] = {
    cudaErrorIllegalAddress,   cudaErrorMisalignedAddress,   cudaErrorInvalidAddressSpace,
    cudaErrorInvalidPc,        cudaErrorIllegalInstruction,  cudaErrorHardwareStackError,
    cudaErrorLaunchFailure,    cudaErrorLaunchTimeout,       cudaErrorAssert,
    cudaErrorECCUncorrectable, cudaErrorNvlinkUncorrectable, cudaErrorContextIsDestroyed};

class FailingDevice : public ::testing::Test {
 protected:
  FailingDevice() { fake = {}; }
  ~FailingDevice() override {
    EXPECT_TRUE(fake.allocated.empty()) << fake.allocated.size() << " blocks were not given back";
    fake = {};
    const std::vector<float> here = {1, 2, 3, 4};
    EXPECT_TRUE(slice(selection_, view_of(here, {4})).ok()) << "the CPU's operations go on";
  }

  // Memory that counts as the device's.
  ConstView dy() { return there(dy_memory_, {2}); }
  View dx() { return there(dx_memory_, {4}); }
  Result<Tensor> gradient() { return slice_grad(selection_, dy()); }
  Result<Tensor> sum() {
    const SliceGradient slices[] = {{selection_, dy()}, {selection_, dy()}};
    return multi_slice_grad({4}, slices);
  }
  Status sparse_gradient(MatchOrder order) {
    const ConstView rows = ConstView::contiguous(rows_.data(), DType::Int64, {2, 1}, 0, Device::cuda(0)).value();
    const CooIndices indices = CooIndices::from_matrix(rows).value();
    return sparse_slice_grad(dy(), indices, {0}, indices, order).status();
  }

  const Selection selection_ = Selection::from_index({4}, "1:3").value();

 private:
  View there(std::vector<float>& memory, Ints shape) {
    return View::contiguous(memory.data(), DType::Float32, shape, 0, Device::cuda(0)).value();
  }

  std::vector<float> dy_memory_ = {1, 2}, dx_memory_ = {1, 2, 3, 4};
  std::vector<std::int64_t> rows_ = {0, 1};
};

TEST_F(FailingDevice, WorksUntilItIsToldToFail) {
  EXPECT_TRUE(gradient().ok()) << gradient().status();
  EXPECT_TRUE(sum().ok()) << sum().status();
  for (MatchOrder order : {MatchOrder::InOrder, MatchOrder::Any}) {
    EXPECT_TRUE(sparse_gradient(order).ok()) << sparse_gradient(order);
  }
}

TEST_F(FailingDevice, StickyErrorsOfLaunchesAreToldAsSuch) {
  for (cudaError_t error : kSticky) {
    fake.launch = error;
    EXPECT_TRUE(is_error(slice_grad_into(selection_, dy(), dx()), StatusCode::Internal, "fill failed on cuda:0",
                         cudaGetErrorName(error), "the error is sticky"));
    EXPECT_TRUE(is_error(slice_grad_into(selection_, dy(), dx(), Write::Accumulate), StatusCode::Internal,
                         "add failed on cuda:0", "the error is sticky"));
    EXPECT_TRUE(is_error(gradient(), StatusCode::Internal, "the error is sticky"));
    EXPECT_TRUE(is_error(sum(), StatusCode::Internal, "the error is sticky"));
    for (MatchOrder order : {MatchOrder::InOrder, MatchOrder::Any}) {
      EXPECT_TRUE(is_error(sparse_gradient(order), StatusCode::Internal, "the error is sticky"));
    }
  }
}

TEST_F(FailingDevice, StickyErrorsThatAppearWhileWaitingAreToldAsSuch) {
  for (cudaError_t error : kSticky) {
    fake.wait = error;
    EXPECT_TRUE(is_error(cuda_synchronize(0), StatusCode::Internal, "cudaStreamSynchronize failed on cuda:0",
                         cudaGetErrorName(error), "the error is sticky"));
    EXPECT_TRUE(is_error(sparse_gradient(MatchOrder::InOrder), StatusCode::Internal, "cudaStreamSynchronize",
                         "the error is sticky"));
  }
}

TEST_F(FailingDevice, KernelsForOtherDevicesAreAPrecondition) {
  for (cudaError_t error : {cudaErrorNoKernelImageForDevice, cudaErrorUnsupportedPtxVersion,
                            cudaErrorInvalidKernelImage, cudaErrorJitCompilerNotFound}) {
    fake.launch = error;
    EXPECT_TRUE(is_error(slice_grad_into(selection_, dy(), dx()), StatusCode::FailedPrecondition,
                         cudaGetErrorName(error), "backslice was compiled for other devices"));
    EXPECT_TRUE(is_error(sum(), StatusCode::FailedPrecondition, cudaGetErrorName(error)));
  }
}

TEST_F(FailingDevice, StreamsThatItDoesNotKnowAreAnArgument) {
  fake.launch = cudaErrorInvalidResourceHandle;
  EXPECT_TRUE(
      is_error(slice_grad_into(selection_, dy(), dx()), StatusCode::InvalidArgument, "was the stream destroyed"));
  EXPECT_TRUE(is_error(sum(), StatusCode::InvalidArgument, "was the stream destroyed"));
  fake.allocate = fake.launch;
  EXPECT_TRUE(is_error(gradient(), StatusCode::InvalidArgument, "cudaMallocAsync", "was the stream destroyed"));
}

TEST_F(FailingDevice, MemoryOfAStreamThatIsGoneIsGivenBackWhenAllWorkIsDone) {
  fake.free_in_order = cudaErrorInvalidResourceHandle;
  EXPECT_TRUE(gradient().ok());
  EXPECT_EQ(fake.freed_after_waiting, 1);
  EXPECT_EQ(fake.last, cudaSuccess) << "the error is ours, and not left for others to find";
}

TEST_F(FailingDevice, MemoryThatRunsOutIsAnError) {
  fake.allocate = cudaErrorMemoryAllocation;
  EXPECT_TRUE(is_error(gradient(), StatusCode::ResourceExhausted, "cudaMallocAsync failed on cuda:0"));
  EXPECT_TRUE(is_error(sum(), StatusCode::ResourceExhausted, "cudaMallocAsync"));
  EXPECT_TRUE(is_error(sparse_gradient(MatchOrder::InOrder), StatusCode::ResourceExhausted, "cudaMallocAsync"));
}

TEST_F(FailingDevice, WhicheverLaunchFailsEverythingIsGivenBack) {
  fake.launch = cudaErrorIllegalAddress;
  for (int before = 0; before < 4; ++before) {
    for (MatchOrder order : {MatchOrder::InOrder, MatchOrder::Any}) {
      fake.launches_before_failing = before;
      (void)sparse_gradient(order);
      EXPECT_TRUE(fake.allocated.empty()) << before;
    }
    fake.launches_before_failing = before;
    (void)sum();
    EXPECT_TRUE(fake.allocated.empty()) << before;
  }
}

TEST_F(FailingDevice, ErrorsAreNotLeftForOthersToFind) {
  fake.launch = cudaErrorInvalidResourceHandle;
  EXPECT_FALSE(gradient().ok());
  EXPECT_EQ(fake.last, cudaSuccess);
}

}  // namespace
}  // namespace backslice
