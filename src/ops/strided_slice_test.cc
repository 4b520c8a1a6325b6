#include "testing.h"

namespace backslice {
namespace {

using namespace testing;

TEST(StridedSliceGrad, PutsDyWhereTheSliceTookFrom) {
  const auto dy = counting<float>(6);
  Tensor dx =
      strided_slice_grad({4, 5}, {.begin = {1, 0}, .end = {3, 5}, .strides = {1, 2}}, view_of(dy, {2, 3})).value();
  EXPECT_THAT(elements<float>(dx), ElementsAre(0, 0, 0, 0, 0, 1, 0, 2, 0, 3, 4, 0, 5, 0, 6, 0, 0, 0, 0, 0));
}

TEST(StridedSliceGrad, NegativeStepWritesReversed) {
  const auto dy = counting<float>(3);
  Tensor dx =
      strided_slice_grad({5}, {.begin = {4}, .end = {0}, .strides = {-2}, .end_mask = 1}, view_of(dy, {3})).value();
  EXPECT_THAT(elements<float>(dx), ElementsAre(3, 0, 2, 0, 1));
}

TEST(StridedSliceGrad, WorksAtRank9WhereTensorFlowReturnsUninitialisedMemory) {
  const std::vector<std::int64_t> shape(9, 2);
  std::vector<std::int64_t> dy_shape = shape;
  dy_shape[0] = 1;
  const auto dy = counting<float>(256);
  Tensor dx = strided_slice_grad(shape, {.begin = {0}, .end = {1}, .strides = {1}}, view_of(dy, dy_shape)).value();
  auto expected = dy;
  expected.resize(512, 0);
  EXPECT_EQ(elements<float>(dx), expected);
}

TEST(StridedSliceGrad, RefusesDyOfAnotherShapeAlsoOfEqualSize) {
  const auto dy = counting<float>(3);
  const TfSlice two{.begin = {1}, .end = {3}, .strides = {1}};
  EXPECT_TRUE(is_error(strided_slice_grad({4}, two, view_of(dy, {3})), kInvalid, "shape of dy was [3] instead of [2]",
                       "axis 0 has 3, expected 2"));
  EXPECT_TRUE(is_error(strided_slice_grad({4}, two, view_of(dy, {1, 2})), kInvalid, "rank 2, expected 1"));
}

TEST(StridedSliceGrad, TooLargeToAllocateIsResourceExhausted) {
  const auto dy = counting<float>(2);
  const TfSlice two{.begin = {1}, .end = {3}, .strides = {1}};
  for (std::int64_t n : {std::int64_t{1} << 50, std::numeric_limits<std::int64_t>::max()}) {
    EXPECT_TRUE(is_error(strided_slice_grad({n}, two, view_of(dy, {2})), StatusCode::ResourceExhausted));
  }
}

TEST(StridedSlice, TakesWhatItsGradientPutsBack) {
  const auto x = counting<float>(20);
  const TfSlice spec{.begin = {-1, 1}, .end = {-3, 4}, .strides = {-1, 2}};
  Tensor y = strided_slice(view_of(x, {4, 5}), spec).value();
  EXPECT_THAT(Ints(y.shape()), ElementsAre(2, 2));
  EXPECT_THAT(elements<float>(y), ElementsAre(17, 19, 12, 14));
}

// <slice(x), g> = <x, grad(g)>, exactly, on integers.
TEST(SliceGrad, IsTheAdjointOfSlice) {
  std::mt19937 random(8);
  for (int i = 0; i < 2000; ++i) {
    const Selection s = random_selection(random, 5);
    std::vector<std::int64_t> x(static_cast<std::size_t>(s.shape().elements()));
    std::vector<std::int64_t> g(static_cast<std::size_t>(s.result_shape().elements()));
    for (auto& v : x) v = static_cast<std::int64_t>(random() % 1000);
    for (auto& v : g) v = static_cast<std::int64_t>(random() % 1000);
    Tensor y = slice(s, view_of(x, s.shape())).value();
    Tensor dx = slice_grad(s, view_of(g, s.result_shape())).value();
    std::int64_t forward = 0, backward = 0;
    for (std::size_t k = 0; k < g.size(); ++k) forward += y.elements<std::int64_t>().value()[k] * g[k];
    for (std::size_t k = 0; k < x.size(); ++k) backward += x[k] * dx.elements<std::int64_t>().value()[k];
    EXPECT_EQ(forward, backward) << s.explain();
  }
}

// The gradient of the gradient is the forward operation.
TEST(SliceGrad, GradientOfTheGradientIsTheSlice) {
  std::mt19937 random(9);
  for (int i = 0; i < 300; ++i) {
    const Selection s = random_selection(random, 4);
    const auto g = counting<std::int64_t>(s.result_shape().elements());
    const Tensor dx = slice_grad(s, view_of(g, s.result_shape())).value();
    Tensor back = slice(s, dx.view()).value();
    EXPECT_EQ(elements<std::int64_t>(back), g);
  }
}

}  // namespace
}  // namespace backslice
