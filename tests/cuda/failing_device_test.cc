// A device that fails on request: the outcome of the call, and of the memory that it has allocated.
#include "backslice/cuda.h"
#include "fake_runtime.h"
#include "testing.h"

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
