#include "testing.h"

namespace backslice {
namespace {

using namespace testing;

constexpr std::int64_t kMax = std::numeric_limits<std::int64_t>::max();

std::vector<float> grad(std::vector<float> dy, Ints dy_shape, Ints shape, const OnnxSlice& spec) {
  Tensor dx = onnx_slice_grad(view_of(dy, dy_shape), shape, spec).value();
  EXPECT_EQ(dx.shape(), *Shape::make(shape));
  return elements<float>(dx);
}

// The next four are ONNX Runtime's own training tests.
TEST(OnnxSliceGrad, SlicesTwoAxesWithSteps) {
  EXPECT_THAT(grad({5, 7}, {2}, {2, 4}, {.starts = {1, 0}, .ends = {2, 3}, .axes = {{0, 1}}, .steps = {{1, 2}}}),
              ElementsAre(0, 0, 0, 0, 5, 0, 7, 0));
}

TEST(OnnxSliceGrad, WalksAnAxisBackwards) {
  auto expected = std::vector<float>(12, 0);
  for (float v : {1, 2, 3, 4}) expected.push_back(v);
  EXPECT_EQ(grad({1, 2, 3, 4}, {1, 1, 2, 2}, {2, 2, 2, 2},
                 {.starts = {1, 1}, .ends = {0, 2}, .axes = {{0, 1}}, .steps = {{-1, 1}}}),
            expected);
}

TEST(OnnxSliceGrad, SlicesAMiddleAxisToTheEnd) {
  EXPECT_THAT(
      grad(counting<float>(8), {1, 2, 1, 2, 2}, {1, 2, 2, 2, 2}, {.starts = {1}, .ends = {kMax}, .axes = {{2}}}),
      ElementsAre(0, 0, 0, 0, 1, 2, 3, 4, 0, 0, 0, 0, 5, 6, 7, 8));
}

TEST(OnnxSliceGrad, SlicesTwoAxesApart) {
  EXPECT_THAT(
      grad({1, 2, 3, 4}, {1, 1, 2, 1, 2}, {1, 2, 2, 2, 2}, {.starts = {1, 1}, .ends = {kMax, 2}, .axes = {{1, 3}}}),
      ElementsAre(0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1, 2, 0, 0, 3, 4));
}

TEST(OnnxSliceGrad, NegativeStepOnTheInnermostAxisWorks) {
  EXPECT_THAT(grad({1, 2, 3}, {3}, {3}, {.starts = {2}, .ends = {-9}, .steps = {{-1}}}), ElementsAre(3, 2, 1));
}

TEST(OnnxSliceGrad, ReadsDyOfEqualCountInRowMajorOrder) {
  const OnnxSlice middle{.starts = {1, 1}, .ends = {3, 3}};
  const std::vector<float> expected = {0, 0, 0, 0, 0, 1, 2, 0, 0, 3, 4, 0, 0, 0, 0, 0};
  EXPECT_EQ(grad({1, 2, 3, 4}, {4}, {4, 4}, middle), expected);
  EXPECT_EQ(grad({1, 2, 3, 4}, {1, 4, 1}, {4, 4}, middle), expected);
}

TEST(OnnxSliceGrad, ReadsStridedDyOfAnotherShapeInRowMajorOrder) {
  // 1 2 / 3 4, stored column by column: no strides say it as [4]
  const std::vector<float> columns = {1, 3, 2, 4};
  const ConstView dy = ConstView::strided(columns.data(), {2, 2}, {1, 2}).value();
  Tensor dx = onnx_slice_grad(dy, {5}, {.starts = {1}, .ends = {5}}).value();
  EXPECT_THAT(elements<float>(dx), ElementsAre(0, 1, 2, 3, 4));
}

TEST(OnnxSliceGrad, TakesASliceThatIsLoweredAlready) {
  const Selection rows = Selection::from_onnx({4}, {.starts = {1}, .ends = {3}}).value();
  const std::vector<float> dy = {1, 2};
  std::vector<float> dx(4, 10);
  EXPECT_THAT(elements<float>(onnx_slice_grad(rows, view_of(dy, {2, 1})).value()), ElementsAre(0, 1, 2, 0));
  EXPECT_TRUE(onnx_slice_grad_into(rows, view_of(dy, {1, 2}), view_of(dx, {4}), Write::Accumulate).ok());
  EXPECT_THAT(dx, ElementsAre(10, 11, 12, 10));
  EXPECT_TRUE(is_error(onnx_slice_grad(rows, view_of(dx, {4})), kInvalid, "grad has 4 elements"));
}

TEST(OnnxSliceGrad, RefusesOtherCounts) {
  const auto dy = counting<float>(8);
  const OnnxSlice two{.starts = {1}, .ends = {3}}, none{.starts = {1}, .ends = {1}};
  EXPECT_TRUE(is_error(onnx_slice_grad(view_of(dy, {8}), {4}, two), kInvalid, "grad has 8 elements", "slice has 2"));
  EXPECT_TRUE(is_error(onnx_slice_grad(view_of(dy, {1}), {4}, two), kInvalid, "grad has 1 element ", "slice has 2"));
  EXPECT_TRUE(is_error(onnx_slice_grad(view_of(dy, {1}), {4}, none), kInvalid, "slice has 0"));
}

TEST(OnnxSliceGrad, NoticesOverlapAlsoWhenDyMustBeCopied) {
  std::vector<float> memory(8);
  const View out = View::contiguous(memory.data(), DType::Float32, {5}).value();
  const ConstView dy = ConstView::strided(memory.data() + 4, {2, 2}, {1, 2}).value();
  EXPECT_TRUE(is_error(onnx_slice_grad_into(dy, {5}, {.starts = {1}, .ends = {5}}, out), kInvalid,
                       "out shares memory with grad"));
}

TEST(OnnxSlice, RefusesScalarsButItsGradientDoesNot) {
  const auto x = counting<float>(1);
  EXPECT_TRUE(is_error(onnx_slice(view_of(x, {}), {}), kInvalid, "Cannot slice scalars", "rank 0"));
  EXPECT_TRUE(onnx_slice_grad(view_of(x, {}), {}, {}).ok());
}

TEST(OnnxSlice, TakesAnyAxes) {
  const auto x = counting<float>(12);
  Tensor y = onnx_slice(view_of(x, {3, 4}), {.starts = {3}, .ends = {0}, .axes = {{-1}}, .steps = {{-2}}}).value();
  EXPECT_THAT(Ints(y.shape()), ElementsAre(3, 2));
  EXPECT_THAT(elements<float>(y), ElementsAre(4, 2, 8, 6, 12, 10));
}

}  // namespace
}  // namespace backslice
