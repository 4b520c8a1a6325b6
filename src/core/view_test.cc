#include "backslice/view.h"

#include "backslice/tensor.h"
#include "testing.h"

namespace backslice {
namespace {

using namespace testing;

constexpr std::int64_t kMin = std::numeric_limits<std::int64_t>::min();

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
  EXPECT_EQ(View::contiguous(b, DType::Bytes, {2}, 5)->layout.item_size, 5);
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

}  // namespace
}  // namespace backslice
