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

template <class Memory>
concept WritableMemory = requires(const Memory& memory) { View::strided(memory, Ints(), Ints()); };
template <class Span>
concept WritableSpan = requires(const Span& span) { View::of(span); };

TEST(View, StridesOfTypedPointersCountElements) {
  std::vector<float> data(24);
  const View columns = View::strided(data.data() + 1, {4, 3}, {6, 2}).value();
  EXPECT_EQ(columns.dtype, DType::Float32);
  EXPECT_EQ(columns.data, reinterpret_cast<std::byte*>(data.data() + 1));
  EXPECT_THAT(Ints(columns.layout.strides), ElementsAre(24, 8));
  const std::int16_t* const shorts = nullptr;
  EXPECT_THAT(Ints(ConstView::strided(shorts, {0, 2}, {-1, 0}).value().layout.strides), ElementsAre(2, 2));
  EXPECT_THAT(Ints(ConstView::strided(shorts, {3}, {-1}, Device::cuda(1)).value().layout.strides), ElementsAre(-2));
  EXPECT_EQ(ConstView::strided(shorts, {3}, {-1}, Device::cuda(1)).value().device, Device::cuda(1));
  EXPECT_EQ(View::contiguous(data.data(), {4, 6}).value().layout, View::of(data, {4, 6}).value().layout);
  static_assert(WritableMemory<short*> && !WritableMemory<const short*> && !WritableMemory<void*>);
}

TEST(View, StridesInElementsAreChecked) {
  double data[1];
  for (std::int64_t stride : {kMin, kMax, std::int64_t{1} << 60, std::int64_t{-1} << 59}) {
    const Status refused = View::strided(data, {4}, {stride}).status();
    EXPECT_TRUE(is_error(refused, kInvalid, "strides [" + std::to_string(stride) + "] of shape [4] span more than"));
    EXPECT_EQ(refused.argument(), "strides");
  }
  EXPECT_TRUE(is_error(View::strided(data, {4}, {1, 1}), kInvalid, "strides [1,1] has 2 entries, shape [4] has 1"));
  EXPECT_TRUE(View::strided(data, {}, {}).ok());
}

// The common members of std::mdspan and Kokkos's mdspan, its predecessor.
template <class T, bool always = true>
struct Span2d {
  using element_type = T;
  using reference = T&;
  T* data;
  std::array<std::size_t, 2> extents, strides;
  T* data_handle() const { return data; }
  static constexpr std::size_t rank() { return 2; }
  std::size_t extent(std::size_t axis) const { return extents[axis]; }
  std::size_t stride(std::size_t axis) const { return strides[axis]; }
  const Span2d& mapping() const { return *this; }
  bool is_strided() const { return always; }
};

TEST(View, ComesFromStridedSpans) {
  std::vector<double> data(12);
  const View view = View::of(Span2d<double>{data.data(), {3, 4}, {1, 3}}).value();
  EXPECT_EQ(view.dtype, DType::Float64);
  EXPECT_EQ(view.shape(), Shape::make({3, 4}).value());
  EXPECT_THAT(Ints(view.layout.strides), ElementsAre(8, 24));
  EXPECT_EQ(ConstView::of(Span2d<const double>{data.data(), {3, 4}, {1, 3}}).value().layout, view.layout);
  static_assert(WritableSpan<Span2d<double>> && !WritableSpan<Span2d<const double>> && !WritableSpan<Span2d<char>>);
  EXPECT_TRUE(is_error(View::of(Span2d<double, false>{data.data(), {3, 4}, {1, 3}}), kInvalid, "span has no strides"));
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
