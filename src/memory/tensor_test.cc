#include "backslice/tensor.h"

#include <array>

#include "testing.h"

namespace backslice {
namespace {

using namespace testing;

TEST(Tensor, IsMadeFromBraces) {
  const Tensor made = Tensor::make(DType::Float32, {2, 3}).value();
  EXPECT_EQ(made.shape(), *Shape::make({2, 3}));
  EXPECT_EQ(Tensor::make(DType::Float32, {}).value().shape(), Shape());
  EXPECT_EQ(Tensor::make(DType::Float32, made.shape()).value().shape(), made.shape());
  EXPECT_TRUE(is_error(Tensor::make(DType::Float32, {2, -3}), kInvalid, "shape[1]", "-3"));
}

TEST(Tensor, IsMadeOfZeros) {
  EXPECT_THAT(elements<float>(Tensor::zeros(DType::Float32, {2, 2}).value()), ElementsAre(0, 0, 0, 0));
  EXPECT_THAT(elements<std::string>(Tensor::zeros(DType::String, {2}).value()), ElementsAre("", ""));
  EXPECT_EQ(Tensor::zeros(DType::Int8, Shape::make({3}).value(), pool_allocator()).value().shape().rank(), 1);
  EXPECT_TRUE(is_error(Tensor::zeros(DType::Int8, {-1}), kInvalid, "shape[0]"));
}

TEST(Tensor, CopiesValues) {
  const std::vector<double> values = {1, 2, 3, 4, 5, 6};
  const Tensor made = Tensor::copy_of(values, {2, 3}).value();
  EXPECT_EQ(made.dtype(), DType::Float64);
  EXPECT_THAT(made.elements<double>().value(), ElementsAre(1, 2, 3, 4, 5, 6));
  EXPECT_NE(static_cast<const void*>(made.data()), values.data());
}

TEST(Tensor, CopiesBracesArraysAndStrings) {
  const std::array<std::string, 2> words = {"one", std::string(100, 'x')};
  EXPECT_THAT(elements<std::string>(Tensor::copy_of(words, {2}).value()), ElementsAre("one", words[1]));
  EXPECT_THAT(elements<float>(Tensor::copy_of({1.5f, 2.5f}, {2, 1}).value()), ElementsAre(1.5f, 2.5f));
  const std::int64_t splits[] = {0, 2, 2};
  EXPECT_THAT(elements<std::int64_t>(Tensor::copy_of(splits, {3}).value()), ElementsAre(0, 2, 2));
}

TEST(Tensor, RefusesValuesThatAreNotAsManyAsItsShapeHas) {
  EXPECT_TRUE(is_error(Tensor::copy_of({1, 2, 3}, {2, 2}), kInvalid, "3 elements", "[2,2] has 4"));
}

TEST(Tensor, ShowsItsElementsAsTheirOwnTypeOnly) {
  Tensor made = Tensor::make(DType::Float32, {2, 2}).value();
  std::span<float> values = made.elements<float>().value();
  std::fill(values.begin(), values.end(), 7.0f);
  const Tensor& same = made;
  EXPECT_THAT(same.elements<float>().value(), ElementsAre(7, 7, 7, 7));
  static_assert(std::is_same_v<decltype(same.elements<float>()), Result<std::span<const float>>>);
  EXPECT_TRUE(is_error(made.elements<std::int32_t>(), kInvalid, "int32", "float32"));
  EXPECT_TRUE(same.elements<double>().status().is_about_dtype());
}

TEST(Tensor, ElementsThatDoNotLieOneAfterTheOtherAreRefused) {
  const Tensor all = Tensor::copy_of({1.0f, 2.0f, 3.0f, 4.0f}, {2, 2}).value();
  const Tensor column = select(Selection::from_index({2, 2}, ":, 1").value(), all);
  EXPECT_TRUE(is_error(column.elements<float>(), kInvalid, "[2]", "[8]", "copy"));
  EXPECT_THAT(elements<float>(slice(Selection::all(column.shape()), column).value()), ElementsAre(2, 4));
}

TEST(Tensor, ElementsThatAreNotAlignedAreRefused) {
  alignas(8) std::byte memory[12] = {};
  EXPECT_TRUE(
      is_error(View::contiguous(memory + 1, DType::Float32, {2}).value().elements<float>(), kInvalid, "aligned to 4"));
  EXPECT_TRUE(View::contiguous(memory + 1, DType::Float32, {0}).value().elements<float>().ok());
}

template <class T>
concept HasElements = requires(T&& tensor) { std::forward<T>(tensor).template elements<float>(); };

TEST(Tensor, ATemporaryLendsNoElements) {
  static_assert(HasElements<Tensor&> && HasElements<const Tensor&>);
  static_assert(!HasElements<Tensor> && !HasElements<const Tensor>);
}

TEST(Tensor, IsTakenWhereAViewIs) {
  const Tensor dy = Tensor::copy_of({1.0f, 2.0f}, {2}).value();
  Tensor dx = Tensor::make(DType::Float32, {4}).value();
  const Selection middle = Selection::from_index({4}, "1:3").value();
  ASSERT_TRUE(slice_grad_into(middle, dy, dx).ok());
  EXPECT_THAT(dx.elements<float>().value(), ElementsAre(0, 1, 2, 0));
  EXPECT_THAT(elements<float>(slice(middle, slice_grad(middle, dy).value()).value()), ElementsAre(1, 2));
  static_assert(!std::is_convertible_v<const Tensor&, View>);
}

TEST(Tensor, ASelectionOfItSharesItsMemory) {
  Tensor x = Tensor::make(DType::Float32, {4}, 0, Contents::Zero).value();
  Tensor middle = select(Selection::from_index({4}, "1:3").value(), x);
  EXPECT_TRUE(middle.buffer().is_same_block(x.buffer()));
  middle.elements<float>().value()[0] = 5;
  EXPECT_THAT(x.elements<float>().value(), ElementsAre(0, 5, 0, 0));
}

}  // namespace
}  // namespace backslice
