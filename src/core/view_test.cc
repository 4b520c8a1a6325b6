#include "backslice/view.h"

#include <array>

#include "backslice/tensor.h"
#include "testing.h"

namespace backslice {
namespace {

using namespace testing;

TEST(View, ContiguousStridesAreRowMajor) {
  float data[6];
  const View view = View::contiguous(data, DType::Float32, {2, 3}).value();
  EXPECT_THAT(Ints(view.layout.strides), ElementsAre(12, 4));
}

TEST(View, EmptyTensorsWithHugeExtentsHaveStrides) {
  const std::int64_t huge = std::int64_t{1} << 40;
  EXPECT_TRUE(View::contiguous(nullptr, DType::Float64, {0, huge, huge}).ok());
}

TEST(View, SizesPastInt64AreResourceExhausted) {
  const std::int64_t huge = std::int64_t{1} << 62;
  EXPECT_TRUE(is_error(View::contiguous(nullptr, DType::Float64, {huge}), StatusCode::ResourceExhausted));
}

TEST(View, StridesThatLeaveInt64AreRefused) {
  std::byte b[1];
  for (std::int64_t stride : {kMin, std::int64_t{1} << 62}) {
    EXPECT_TRUE(is_error(View::strided(b, DType::Int8, {4}, {stride}), kInvalid, "span more than"));
  }
  EXPECT_TRUE(is_error(View::strided(b, DType::Int8, {4}, {1, 1}), kInvalid, "strides", "2 entries"));
}

TEST(View, ItemSizeIsForBytesAlone) {
  std::byte b[10];
  EXPECT_EQ(View::contiguous(b, DType::Bytes, {2}, 5).value().layout.item_size, 5);
  EXPECT_TRUE(is_error(View::contiguous(b, DType::Bytes, {2}, -1), kInvalid, "item_size"));
  EXPECT_TRUE(is_error(View::contiguous(b, DType::Int8, {2}, 5), kInvalid, "item_size 5", "int8"));
}

TEST(Tensor, TooLargeIsResourceExhausted) {
  for (std::int64_t elements : {std::int64_t{1} << 50, std::int64_t{1} << 61}) {
    EXPECT_TRUE(is_error(Tensor::make(DType::Float32, Shape::make({elements}).value()), StatusCode::ResourceExhausted));
    EXPECT_TRUE(is_error(Tensor::make(DType::String, Shape::make({elements}).value()), StatusCode::ResourceExhausted));
  }
}

TEST(Tensor, CopiesShareTheBuffer) {
  const Tensor a = Tensor::make(DType::Float32, Shape::make({3}).value()).value();
  const Tensor b = a;
  EXPECT_EQ(a.view().data, b.view().data);
  EXPECT_EQ(a.buffer().use_count(), 2);
}

TEST(View, ComesFromContainersWithAShape) {
  std::vector<float> vector(6);
  std::array<double, 6> array = {};
  std::int32_t c_array[6] = {};
  EXPECT_EQ(View::of(vector, {2, 3}).value().layout,
            View::contiguous(vector.data(), DType::Float32, {2, 3}).value().layout);
  EXPECT_EQ(View::of(array, {6}).value().dtype, DType::Float64);
  EXPECT_EQ(View::of(c_array, {3, 2}).value().dtype, DType::Int32);
  EXPECT_EQ(View::of(std::span(vector).first(4), {2, 2}).value().data, reinterpret_cast<std::byte*>(vector.data()));
  const std::vector<std::string> words(2);
  EXPECT_EQ(ConstView::of(words, {2}).value().dtype, DType::String);
}

TEST(View, OfAnotherNumberOfElementsThanTheMemoryHasIsRefused) {
  std::vector<float> memory(24);
  for (const auto& shape : {std::vector<std::int64_t>{4, 5}, {25}, {}, {0}}) {
    EXPECT_TRUE(is_error(View::of(memory, shape), kInvalid, "24 elements", to_string(shape)));
  }
  EXPECT_TRUE(is_error(View::of(memory, {-24}), kInvalid, "-24"));
  std::vector<float> none;
  EXPECT_TRUE(View::of(none, {3, 0}).ok());
}

template <class AnyView, class Memory>
concept MakesView = requires(Memory&& memory) { AnyView::of(std::forward<Memory>(memory), Ints()); };

TEST(View, IsNotMadeOfTemporariesOrOverConstElements) {
  using Vector = std::vector<float>;
  static_assert(MakesView<View, Vector&> && MakesView<ConstView, Vector&> && MakesView<ConstView, const Vector&>);
  static_assert(MakesView<View, std::span<float>> && MakesView<View, const std::span<float>&>);
  static_assert(!MakesView<View, Vector> && !MakesView<View, const Vector&>);
  static_assert(!MakesView<ConstView, Vector> && !MakesView<ConstView, const Vector>);
  static_assert(!MakesView<View, std::span<const float>>);
  static_assert(!MakesView<View, std::vector<bool>&> && !MakesView<View, std::vector<char>&>);
}

TEST(View, ShowsItsElements) {
  std::vector<float> memory = {1, 2, 3};
  View::of(memory, {3}).value().elements<float>().value()[1] = 7;
  EXPECT_THAT(memory, ElementsAre(1, 7, 3));
  const ConstView view = ConstView::of(memory, {3}).value();
  static_assert(std::is_same_v<decltype(view.elements<float>()), Result<std::span<const float>>>);
  EXPECT_TRUE(is_error(view.elements<double>(), kInvalid, "float64", "float32"));
}

}  // namespace
}  // namespace backslice
