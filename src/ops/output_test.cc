// The rules for the caller's output, and that a refused call changes nothing.
#include "testing.h"

namespace backslice {
namespace {

using namespace testing;

class Output : public ::testing::Test {
 protected:
  // The call must fail, say why, and leave every byte of the output as it was.
  void expect_refused(const ConstView& given_dy, const View& out, const std::string& why) {
    const std::vector<float> before = memory;
    EXPECT_TRUE(is_error(slice_grad_into(middle, given_dy, out), kInvalid, why));
    EXPECT_EQ(memory, before);
  }

  Selection middle = at({4}, "1:3");
  std::vector<float> dy = {1, 2};
  std::vector<float> memory = counting<float>(16);
};

TEST_F(Output, MayHaveAnyStrides) {
  const View every_other_backwards = View::strided(memory.data() + 8, {4}, {-2}).value();
  EXPECT_TRUE(slice_grad_into(middle, view_of(dy, {2}), every_other_backwards).ok());
  EXPECT_THAT(std::vector<float>(memory.begin(), memory.begin() + 9), ElementsAre(1, 2, 0, 4, 2, 6, 1, 8, 0));
}

TEST_F(Output, OfAnotherShapeIsRefused) {
  expect_refused(view_of(dy, {2}), View::contiguous(memory.data(), DType::Float32, {5}).value(),
                 "shape of out was [5] instead of [4]");
}

TEST_F(Output, OfAnotherDTypeIsRefused) {
  expect_refused(view_of(dy, {2}), View::contiguous(memory.data(), DType::Int32, {4}).value(),
                 "out has dtype int32, expected float32");
}

TEST_F(Output, ThatOverlapsItselfIsRefused) {
  expect_refused(view_of(dy, {2}), View::strided(memory.data(), {4}, {0}).value(), "out overlaps itself");
  expect_refused(view_of(dy, {2}), View::strided(static_cast<void*>(memory.data()), DType::Float32, {4}, {2}).value(),
                 "out overlaps itself");
}

TEST_F(Output, ThatSharesMemoryWithTheInputIsRefused) {
  const View out = View::contiguous(memory.data(), DType::Float32, {4}).value();
  expect_refused(ConstView::contiguous(memory.data() + 3, DType::Float32, {2}).value(), out,
                 "out shares memory with dy");
  EXPECT_TRUE(slice_grad_into(middle, ConstView::contiguous(memory.data() + 4, DType::Float32, {2}).value(), out).ok());
}

TEST_F(Output, InterleavedWithTheInputIsFine) {
  const View even = View::strided(memory.data(), {4}, {2}).value();
  const ConstView odd = ConstView::strided(memory.data() + 1, {2}, {2}).value();
  EXPECT_TRUE(slice_grad_into(middle, odd, even).ok());
  EXPECT_THAT(std::vector<float>(memory.begin(), memory.begin() + 8), ElementsAre(0, 2, 2, 4, 4, 6, 0, 8));
}

TEST_F(Output, NullDataIsRefused) {
  expect_refused(view_of(dy, {2}), View::contiguous(nullptr, DType::Float32, {4}).value(), "out has shape [4] but");
  const View out = view_of(memory, {16});
  EXPECT_TRUE(
      is_error(slice_grad_into(at({16}, "1:3"), ConstView::contiguous(nullptr, DType::Float32, {2}).value(), out),
               kInvalid, "dy has shape [2] but its data is null"));
}

TEST_F(Output, OfTheForwardFollowsTheSameRules) {
  const auto x = counting<float>(4);
  std::vector<float> out(2);
  EXPECT_TRUE(slice_into(middle, view_of(x, {4}), view_of(out, {2})).ok());
  EXPECT_THAT(out, ElementsAre(2, 3));
  EXPECT_TRUE(is_error(slice_into(middle, view_of(x, {2, 2}), view_of(out, {2})), kInvalid,
                       "shape of x was [2,2] instead of [4]"));
  std::vector<float> four = x;
  EXPECT_TRUE(
      is_error(slice_into(middle, view_of(four, {4}), View::contiguous(four.data(), DType::Float32, {2}).value()),
               kInvalid, "out shares memory with x"));
}

TEST_F(Output, EmptyTensorsNeedNoMemory) {
  const View nothing = View::contiguous(nullptr, DType::Float32, {0}).value();
  EXPECT_TRUE(slice_grad_into(at({0}, ":"), nothing, nothing).ok());
}

}  // namespace
}  // namespace backslice
