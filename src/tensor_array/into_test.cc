// Reading into the caller's memory: the results are those of reading into a new tensor, and a failed call changes
// nothing.
#include <limits>

#include "backslice/tensor_array.h"
#include "gaps.h"
#include "tensor_arrays.h"

namespace backslice {
namespace {

using namespace testing;

// Elements of every kind: one written in one piece, one with gaps, and one that was not written.
TensorArray mixed() {
  TensorArray a = array(3, {.element_shape = shape({2, 2}), .clear_after_read = false});
  EXPECT_TRUE(a.write(0, tensor_of({1, 2, 3, 4}, {2, 2})).ok());
  Tensor turned = tensor_of({5, 6, 7, 8}, {2, 2});
  View view = turned.view();
  std::swap(view.layout.strides[0], view.layout.strides[1]);
  EXPECT_TRUE(a.write(1, Tensor::of(turned.buffer(), view)).ok());
  return a;
}

template <class Fill>
void expect_filled(const Shape& shape, const std::vector<float>& expected, const Fill& fill) {
  std::vector<float> dense(static_cast<std::size_t>(shape.elements()), -1);
  ASSERT_TRUE(fill(view_of(dense, shape)).ok());
  EXPECT_EQ(dense, expected);
  Gaps<float> gaps(shape, -1);
  ASSERT_TRUE(fill(gaps.view).ok());
  EXPECT_EQ(gaps.elements(), expected);
}

TEST(TensorArrayInto, FillsWhatTheOthersReturn) {
  TensorArray a = mixed();
  for (std::int64_t i = 0; i < 3; ++i) {
    std::vector<float> expected;
    const Tensor one = a.read(i).value();
    for_each_index(one.shape(), [&](const auto& index) {
      expected.push_back(*reinterpret_cast<const float*>(address(one.view(), index)));
    });
    EXPECT_EQ(a.read_shape(i).value(), one.shape());
    expect_filled(one.shape(), expected, [&](const View& out) { return a.read_into(i, out); });
  }
  const std::vector<std::int64_t> indices = {2, 1, 0, 1};
  expect_filled(a.gather_shape(indices).value(), elements<float>(a.gather(indices).value()),
                [&](const View& out) { return a.gather_into(indices, out); });
  expect_filled(a.stack_shape().value(), elements<float>(a.stack().value()),
                [&](const View& out) { return a.stack_into(out); });
  auto joined = a.concat().value();
  std::vector<std::int64_t> lengths(3);
  expect_filled(a.concat_shape().value(), elements<float>(joined.value),
                [&](const View& out) { return a.concat_into(out, lengths); });
  EXPECT_EQ(lengths, joined.lengths);
}

TensorArray gradient_of_terms(int terms) {
  TensorArray g = array(2).grad("x").value();
  for (int i = 0; i < terms; ++i) EXPECT_TRUE(g.write(0, tensor_of({0.1f * static_cast<float>(i), 1e8f}, {2})).ok());
  return g;
}

TEST(TensorArrayInto, AddsUpTheTermsOfAGradient) {
  for (const int terms : {2, 8, 9}) {
    TensorArray made = gradient_of_terms(terms);
    const Shape shape = made.read_shape(0).value();
    expect_filled(shape, read(made, 0), [&](const View& out) { return gradient_of_terms(terms).read_into(0, out); });
  }
}

TEST(TensorArrayInto, ClearsWhatItRead) {
  TensorArray a = array(2);
  ASSERT_TRUE(a.unstack(tensor_of({1, 2}, {2})).ok());
  std::vector<float> out(2);
  EXPECT_THAT(Ints(a.stack_shape().value()), ElementsAre(2));
  EXPECT_THAT(Ints(a.stack_shape().value()), ElementsAre(2));  // asking is not reading
  ASSERT_TRUE(a.stack_into(view_of(out, {2})).ok());
  EXPECT_THAT(out, ElementsAre(1, 2));
  EXPECT_THAT(message(a.read(0)), HasSubstr("twice"));
  EXPECT_THAT(message(a.read_shape(0)), HasSubstr("twice"));
}

TEST(TensorArrayInto, StacksTheBlockOfContiguousMode) {
  TensorArray a = array(2, {.element_shape = shape({2}), .contiguous = true});
  ASSERT_TRUE(a.write(1, tensor_of({5, 6}, {2})).ok());
  std::vector<float> out(4, -1), small(3, -1);
  EXPECT_THAT(Ints(a.stack_shape().value()), ElementsAre(2, 2));
  EXPECT_TRUE(is_error(a.stack_into(view_of(small, {3})), kInvalid, "rank 1, expected 2"));
  ASSERT_TRUE(a.stack_into(view_of(out, {2, 2})).ok());
  EXPECT_THAT(out, ElementsAre(0, 0, 5, 6));
  EXPECT_THAT(message(a.stack_into(view_of(out, {2, 2}))), HasSubstr("twice"));
}

TEST(TensorArrayInto, StringsAreAssigned) {
  TensorArray words = TensorArray::make(2, DType::String, {.element_shape = shape({1})}).value();
  const std::string word = "a word too long to be kept in place, surely";
  ASSERT_TRUE(words.write(1, tensor_of<std::string>({word}, {1})).ok());
  std::vector<std::string> out(3, "before");
  const View apart = View::strided(out.data(), {2, 1}, {2, 0}).value();
  ASSERT_TRUE(words.stack_into(apart).ok());
  EXPECT_THAT(out, ElementsAre("", "before", word));
}

TEST(TensorArrayInto, RefusesOtherOutputsAndKeepsTheElements) {
  TensorArray a = array(2);
  Tensor held = tensor_of({1, 2, 3, 4}, {2, 2});
  ASSERT_TRUE(a.unstack(held).ok());
  std::vector<float> out(4, -1);
  std::vector<double> other(4);
  EXPECT_TRUE(is_error(a.stack_into(view_of(out, {4})), kInvalid, "shape of out was [4] instead of [2,2]"));
  EXPECT_TRUE(is_error(a.stack_into(view_of(other, {2, 2})), kInvalid,
                       "out has dtype float64, expected float32, that of the array"));
  EXPECT_TRUE(
      is_error(a.stack_into(View::strided(out.data(), {2, 2}, {1, 1}).value()), kInvalid, "out overlaps itself"));
  EXPECT_TRUE(is_error(a.stack_into(held.view()), kInvalid, "out shares memory with an element"));
  EXPECT_TRUE(is_error(a.stack_into(View{nullptr, DType::Float32, held.view().layout}), kInvalid, "null"));
  std::vector<std::int64_t> lengths(3, -1);
  EXPECT_TRUE(is_error(a.concat_into(view_of(out, {4}), lengths), kInvalid, "room for 3 numbers", "2 elements"));
  const std::span inside(reinterpret_cast<std::int64_t*>(out.data()), 2);
  EXPECT_TRUE(is_error(a.concat_into(view_of(out, {4}), inside), kInvalid, "lengths shares memory with out"));
  EXPECT_THAT(out, ElementsAre(-1, -1, -1, -1));
  EXPECT_THAT(elements<float>(a.stack().value()), ElementsAre(1, 2, 3, 4));
}

TEST(TensorArrayInto, NoticesThatElementsChangedSinceTheyWereCounted) {
  TensorArray a = array(1, {.dynamic_size = true});
  ASSERT_TRUE(a.write(0, tensor_of({1, 2}, {2})).ok());
  const Shape counted = a.stack_shape().value(), joined = a.concat_shape().value();
  ASSERT_TRUE(a.write(1, tensor_of({3, 4}, {2})).ok());
  std::vector<float> out(2, -1);
  std::vector<std::int64_t> lengths(1, -1);
  EXPECT_TRUE(is_error(a.stack_into(view_of(out, counted)), kInvalid, "axis 0 has 1, expected 2"));
  EXPECT_TRUE(is_error(a.concat_into(view_of(out, joined), lengths), kInvalid, "axis 0 has 2, expected 4"));
  EXPECT_THAT(out, ElementsAre(-1, -1));
  EXPECT_THAT(elements<float>(a.stack().value()), ElementsAre(1, 2, 3, 4));
}

TEST(TensorArrayInto, AGivenShapeBecomesTheArraysOnlyWhenItIsFilled) {
  TensorArray a = array(2);
  std::vector<float> out(3, -1);
  EXPECT_THAT(Ints(a.gather_shape({1}, shape({3})).value()), ElementsAre(1, 3));
  EXPECT_FALSE(a.element_shape().value().has_rank());
  EXPECT_FALSE(a.gather_into({1}, view_of(out, {3}), shape({3})).ok());
  EXPECT_FALSE(a.element_shape().value().has_rank());
  ASSERT_TRUE(a.gather_into({1}, view_of(out, {1, 3}), shape({3})).ok());
  EXPECT_EQ(a.element_shape().value().to_string(), "[3]");
  EXPECT_THAT(out, ElementsAre(0, 0, 0));
}

TEST(TensorArrayInto, NothingNeedsNoMemory) {
  const View nothing = View::contiguous(nullptr, DType::Float32, {0, 3}).value();
  TensorArray a = array(0, {.element_shape = shape({2, 3})});
  EXPECT_TRUE(a.gather_into({}, View::contiguous(nullptr, DType::Float32, {0, 2, 3}).value()).ok());
  EXPECT_EQ(a.concat_shape().value(), nothing.shape());
  EXPECT_TRUE(a.concat_into(nothing, {}).ok());
  EXPECT_EQ(a.stack_shape().value().rank(), 3);
  EXPECT_EQ(array(0).stack_shape().status().code(), StatusCode::Unimplemented);
}

TEST(TensorArrayInto, ACancelledReadKeepsTheElements) {
  TensorArray a = array(2);
  constexpr std::int64_t kLarge = 1 << 20;
  ASSERT_TRUE(a.write(0, tensor_of(std::vector<float>(kLarge, 1), {kLarge})).ok());
  ASSERT_TRUE(a.write(1, tensor_of(std::vector<float>(kLarge, 2), {kLarge})).ok());
  std::vector<float> out(2 * kLarge);
  int asked = 0;
  const CancelledTest later = [&] { return ++asked > 2; };  // while it is written
  EXPECT_EQ(a.stack_into(view_of(out, {2, kLarge}), {.cancelled = &later}).code(), StatusCode::Cancelled);
  ASSERT_TRUE(a.stack_into(view_of(out, {2, kLarge})).ok());
  EXPECT_EQ(std::count(out.begin(), out.end(), 2.0f), kLarge);
}

}  // namespace
}  // namespace backslice
