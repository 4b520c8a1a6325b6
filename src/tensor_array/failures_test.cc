// A call that fails leaves the array as it was.
#include "backslice/tensor_array.h"
#include "memory/tensor_rows.h"
#include "tensor_arrays.h"

namespace backslice {
namespace {

using namespace testing;

// Runs tasks until it is set to run out of memory.
class FailingExecutor final : public Executor {
 public:
  int concurrency() const override { return 2; }
  void run(std::int64_t count, const std::function<void(std::int64_t)>& task) override {
    if (fails) {
      task(0);
      throw std::bad_alloc();
    }
    for (std::int64_t i = 0; i < count; ++i) task(i);
  }
  bool fails = false;
};

constexpr std::int64_t kLarge = 1 << 20;  // floats: worth several threads

Tensor large(float value) { return tensor_of(std::vector<float>(kLarge, value), {kLarge}); }

TEST(TensorArray, AFailedSumLeavesTheTerms) {
  FailingExecutor executor;
  const Context context{.executor = &executor};
  TensorArray g = TensorArray::make(2, DType::Float32).value().grad("x").value();
  for (std::size_t i = 0; i < TensorArray::kMaxTerms; ++i) ASSERT_TRUE(g.write(0, large(1), context).ok());
  executor.fails = true;
  EXPECT_TRUE(is_error(g.write(0, large(1), context), StatusCode::Internal));
  const Tensor two_rows = tensor_of(std::vector<float>(2 * kLarge, 5), {2, kLarge});
  EXPECT_TRUE(is_error(g.scatter(std::vector<std::int64_t>{1, 0}, two_rows, context), StatusCode::Internal));
  EXPECT_TRUE(is_error(g.read(0, context), StatusCode::Internal));
  executor.fails = false;
  EXPECT_TRUE(g.write(1, large(3), context).ok());
  EXPECT_EQ(elements<float>(g.read(0, context).value())[0], 8);
  EXPECT_EQ(elements<float>(g.read(1, context).value())[0], 3);
}

TEST(TensorArray, AFailedWriteToABlockLeavesZeros) {
  FailingExecutor executor;
  const Context context{.executor = &executor};
  const TensorArrayOptions options{.element_shape = *Shape::make({kLarge}), .contiguous = true};
  TensorArray array = TensorArray::make(2, DType::Float32, options).value();
  // With gaps, so that copying it is more than one task.
  Tensor memory = tensor_of(std::vector<float>(4 * kLarge, 5), {2, 2 * kLarge});
  const View gaps = View::strided(memory.view().data, DType::Float32, {2, kLarge}, {8 * kLarge, 8}).value();
  const Tensor rows = Tensor::of(memory.buffer(), gaps);
  executor.fails = true;
  EXPECT_TRUE(is_error(array.write(0, row_of(rows, 1), context), StatusCode::Internal));
  EXPECT_TRUE(is_error(array.unstack(rows, context), StatusCode::Internal));
  executor.fails = false;
  ASSERT_TRUE(array.write(1, large(2), context).ok());
  Tensor all = array.stack().value();
  const auto values = all.elements<float>().value();
  EXPECT_EQ(std::count(values.begin(), values.end(), 0), kLarge);
  EXPECT_EQ(std::count(values.begin(), values.end(), 2), kLarge);
}

TEST(TensorArray, AFailedWriteDoesNotGrowTheArrayOrFixItsShape) {
  TensorArray array =
      TensorArray::make(1, DType::Float32, {.dynamic_size = true, .identical_element_shapes = true}).value();
  const std::vector<std::int64_t> indices = {5, 5};
  EXPECT_TRUE(is_error(array.scatter(indices, tensor_of(counting<float>(4), {2, 2})), kInvalid, "already"));
  EXPECT_EQ(array.size().value(), 1);
  EXPECT_FALSE(array.element_shape().value().has_rank());
}

}  // namespace
}  // namespace backslice
