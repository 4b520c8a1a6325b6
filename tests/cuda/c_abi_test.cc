// The C interface on a CUDA device: the device stores the outcome of checks, and no call waits for it.
#include "backslice/c/backslice.h"
#include "on_device.h"

namespace backslice {
namespace {

using namespace testing;

backslice_view there(const Tensor& tensor, int32_t dtype, const std::int64_t* shape, int32_t rank) {
  backslice_view view = BACKSLICE_VIEW_INIT;
  view.data = const_cast<std::byte*>(tensor.data());
  view.dtype = dtype;
  view.rank = rank;
  view.shape = shape;
  view.device_type = BACKSLICE_CUDA;
  return view;
}

// The gradient of two rows, of which the second is row `second` of a tensor that has four.
class CSparseGradient {
 public:
  explicit CSparseGradient(std::int64_t second)
      : input_(to_device(tensor_of<std::int64_t>({0, 1, 2, 3}, {4, 1}))),
        output_(to_device(tensor_of<std::int64_t>({1, second}, {2, 1}))),
        grad_(to_device(tensor_of<float>({5, 6}, {2}))),
        dx_(to_device(tensor_of<float>({9, 9, 9, 9}, {4}))) {}

  std::int32_t run(const backslice_context& context, std::int32_t write = BACKSLICE_OVERWRITE) {
    const std::int64_t input_shape[] = {4, 1}, output_shape[] = {2, 1}, start = 0;
    const backslice_view input = there(input_, BACKSLICE_INT64, input_shape, 2);
    const backslice_view output = there(output_, BACKSLICE_INT64, output_shape, 2);
    const backslice_view grad = there(grad_, BACKSLICE_FLOAT32, output_shape, 1);
    const backslice_view dx = there(dx_, BACKSLICE_FLOAT32, input_shape, 1);
    backslice_coo_indices input_indices = BACKSLICE_COO_INDICES_INIT, output_indices = BACKSLICE_COO_INDICES_INIT;
    input_indices.count = output_indices.count = 1;
    input_indices.arrays = &input;
    output_indices.arrays = &output;
    return backslice_sparse_slice_grad_into(&grad, &input_indices, {&start, 1}, &output_indices, &dx,
                                            BACKSLICE_IN_ORDER, write, &context);
  }
  std::vector<float> dx() const { return elements<float>(to_cpu(dx_)); }

 private:
  Tensor input_, output_, grad_, dx_;
};

class CDeviceStatus : public ::testing::Test {
 protected:
  Tensor memory_ = to_device(tensor_of<std::int64_t>({7, 7, 7, 7}, {4}));
  backslice_context context_ = BACKSLICE_CONTEXT_INIT;

  CDeviceStatus() { context_.device_status = reinterpret_cast<backslice_device_status*>(memory_.view().data); }
  backslice_device_status copied() const {
    backslice_device_status status;
    std::memcpy(&status, downloaded(memory_.view()).data(), sizeof(status));
    return status;
  }
};

TEST_F(CDeviceStatus, IsWrittenByTheDeviceWhereAllIsFound) {
  CSparseGradient gradient(3);
  ASSERT_EQ(gradient.run(context_), BACKSLICE_OK) << backslice_last_error();
  EXPECT_THAT(gradient.dx(), ElementsAre(0, 5, 0, 6));
  const backslice_device_status status = copied();
  EXPECT_EQ(backslice_device_status_check(&status), BACKSLICE_OK);
  EXPECT_THAT(elements<std::int64_t>(to_cpu(memory_)), ElementsAre(0, 2, 2, 7));
}

TEST_F(CDeviceStatus, SaysThatGradientsAreLeftOverAndNothingIsWritten) {
  CSparseGradient gradient(9);
  ASSERT_EQ(gradient.run(context_), BACKSLICE_OK) << backslice_last_error();
  EXPECT_THAT(gradient.dx(), ElementsAre(9, 9, 9, 9));
  const backslice_device_status status = copied();
  EXPECT_EQ(backslice_device_status_check(&status), BACKSLICE_INTERNAL);
  EXPECT_THAT(backslice_last_error(), HasSubstr("the device found 1 of the rows that were given, expected 2"));
}

TEST_F(CDeviceStatus, WithoutItTheCallWaitsAndFails) {
  CSparseGradient gradient(9);
  context_.device_status = nullptr;
  EXPECT_EQ(gradient.run(context_), BACKSLICE_INTERNAL);
  EXPECT_THAT(gradient.dx(), ElementsAre(9, 9, 9, 9));
}

TEST_F(CDeviceStatus, OfAContextFromBeforeItIsNotRead) {
  CSparseGradient gradient(3);
  context_.struct_size = offsetof(backslice_context, device_status);
  context_.device_status = reinterpret_cast<backslice_device_status*>(1);
  EXPECT_EQ(gradient.run(context_), BACKSLICE_OK) << backslice_last_error();
  EXPECT_THAT(gradient.dx(), ElementsAre(0, 5, 0, 6));
}

TEST_F(CDeviceStatus, InTheWrongPlaceIsRefused) {
  CSparseGradient gradient(3);
  context_.device_status = reinterpret_cast<backslice_device_status*>(memory_.view().data + 4);
  EXPECT_EQ(gradient.run(context_), BACKSLICE_INVALID_ARGUMENT);
  EXPECT_THAT(backslice_last_error(), HasSubstr("device_status is not aligned to 8 bytes"));
  backslice_device_status here;
  context_.device_status = &here;
  EXPECT_EQ(gradient.run(context_), BACKSLICE_INVALID_ARGUMENT);
  EXPECT_THAT(backslice_last_error(), HasSubstr("device_status is said to be on cuda:0, but its memory is on the CPU"));
  EXPECT_THAT(gradient.dx(), ElementsAre(9, 9, 9, 9));
}

}  // namespace
}  // namespace backslice
