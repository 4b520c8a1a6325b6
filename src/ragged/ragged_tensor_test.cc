#include "backslice/ragged_tensor.h"

#include <limits>

#include "ragged_tensors.h"

namespace backslice {
namespace {

using namespace testing;

RaggedTensor three_rows() {
  return RaggedTensor::make(tensor_of(counting<float>(5), {5}), {splits_of({0, 2, 2, 5})}).value();
}

Selection rows(std::int64_t count, std::string_view text) { return *Selection::from_index({count}, text); }

TEST(RaggedTensor, KeepsItsSplitsWhenTheCallersChange) {
  std::vector<std::int64_t> memory = {0, 2, 4};
  const Tensor splits = Tensor::of(Buffer(), view_of(memory, {3}));
  const RaggedTensor rt = RaggedTensor::make(tensor_of(counting<float>(4), {4}), {splits}).value();
  memory = {0, 2, std::int64_t{1} << 40};
  EXPECT_EQ(rt.split(0, 2), 4);
  EXPECT_THAT(values_of(ragged_slice(rows(2, "::-1"), rt).value()), ElementsAre(3, 4, 1, 2));
}

TEST(RaggedTensor, IsEqualWhereDtypeRowsAndBitsAre) {
  const auto made = [](const Tensor& values, std::vector<Tensor> splits) {
    return RaggedTensor::make(values, splits).value();
  };
  const float nan = std::numeric_limits<float>::quiet_NaN();
  const auto of = [&](float first, std::vector<std::int64_t> splits = {0, 1, 2}) {
    return made(tensor_of<float>({first, 2}, {2}), {splits_of(splits)});
  };
  EXPECT_EQ(of(1), of(1));
  EXPECT_EQ(of(nan), of(nan));
  EXPECT_EQ(of(1), made(tensor_of<float>({1, 2}, {2}), {splits_of<std::int32_t>({0, 1, 2})}));
  EXPECT_NE(of(1), of(3));
  EXPECT_NE(of(0.0f), of(-0.0f));
  EXPECT_NE(of(1), of(1, {0, 0, 2}));
  EXPECT_NE(of(1), made(tensor_of<std::int32_t>({1, 2}, {2}), {splits_of({0, 1, 2})}));
  EXPECT_NE(of(1), made(tensor_of<double>({1, 2}, {2}), {splits_of({0, 1, 2})}));
  EXPECT_NE(of(1), made(tensor_of<float>({1, 2}, {2}), {splits_of({0, 2}), splits_of({0, 1, 2})}));
  EXPECT_NE(made(tensor_of<float>({1, 2}, {1, 2}), {splits_of({0, 1})}),
            made(tensor_of<float>({1, 2}, {2, 1}), {splits_of({0, 2})}));
}

TEST(RaggedTensor, ReadsSplitsOfAnyStride) {
  std::vector<std::int64_t> memory = {4, 9, 2, 9, 0};
  const View backwards = View::strided(memory.data() + 4, {3}, {-2}).value();
  const RaggedTensor rt =
      RaggedTensor::make(tensor_of(counting<float>(4), {4}), {Tensor::of(Buffer(), backwards)}).value();
  EXPECT_EQ(rt.split(0, 1), 2);
  EXPECT_EQ(rt.split(0, 2), 4);
}

TEST(RaggedTensor, SharesMemoryOfAnOwner) {
  auto owner = std::make_shared<const std::vector<float>>(counting<float>(5));
  std::vector<std::int32_t> splits = {0, 2, 5};
  const ConstView values = view_of(*owner, {5}), list = ConstView::of(splits, {3}).value();
  std::optional<RaggedTensor> rt = RaggedTensor::make(values, owner, {list}).value();
  EXPECT_EQ(rt->values().data(), values.data);
  EXPECT_EQ(owner.use_count(), 2);
  splits = {9, 9, 9};
  EXPECT_EQ(rt->split(0, 1), 2);  // the copied splits
  const RaggedTensor row = rt->row(1).value();
  rt.reset();
  EXPECT_EQ(owner.use_count(), 2);
  EXPECT_THAT(elements<float>(row.values()), ElementsAre(3, 4, 5));
  EXPECT_TRUE(is_error(RaggedTensor::make(values, owner, {list}), kInvalid, "nested_row_splits[0][0] must be 0"));
  EXPECT_EQ(owner.use_count(), 2);
  EXPECT_EQ(RaggedTensor::make(values, nullptr, std::vector<ConstView>()).value().ragged_rank(), 0);
}

TEST(RaggedTensor, ChecksEveryBlockOfALongList) {
  std::vector<std::int32_t> list(5000);
  for (std::size_t i = 0; i < list.size(); ++i) list[i] = static_cast<std::int32_t>(i);
  const Tensor values = tensor_of(std::vector<float>(4999), {4999});
  EXPECT_TRUE(RaggedTensor::make(values, {splits_of(list)}).ok());
  for (const std::size_t at : {1, 1023, 1024, 1025, 4999}) {
    auto bad = list;
    bad[at] = -1;
    const std::string where = "nested_row_splits[0][" + std::to_string(at) + "] is -1, smaller than the item before " +
                              "it, which is " + std::to_string(at - 1);
    EXPECT_TRUE(is_error(RaggedTensor::make(values, {splits_of(bad)}), kInvalid, where));
  }
}

TEST(RaggedTensor, RefusesRowsThatAreNotThere) {
  const RaggedTensor rt = three_rows();
  constexpr auto kOut = StatusCode::OutOfRange;
  constexpr auto kMost = std::numeric_limits<std::int64_t>::max();
  for (const std::int64_t row : {std::int64_t{-1}, std::int64_t{3}, kMost}) {
    EXPECT_TRUE(is_error(rt.row(row), kOut, std::to_string(row), "3 rows"));
  }
  EXPECT_TRUE(is_error(rt.slice_rows(-1, 2), kOut, "rows -1 to 2"));
  EXPECT_TRUE(is_error(rt.slice_rows(0, 4), kOut, "rows 0 to 4"));
  EXPECT_TRUE(is_error(rt.slice_rows(2, 1), kOut, "rows 2 to 1"));
  const RaggedTensor scalar = RaggedTensor::make(tensor_of({1}, {}), {}).value();
  EXPECT_TRUE(is_error(scalar.row(0), kInvalid, "scalar"));
  EXPECT_TRUE(is_error(scalar.slice_rows(0, 0), kInvalid, "scalar"));
  EXPECT_TRUE(rt.slice_rows(3, 3).ok());
}

TEST(RaggedTensor, TheGradientOfOneRow) {
  const RaggedTensor rt = three_rows();
  EXPECT_THAT(values_of(ragged_slice(rows(3, "-1"), rt).value()), ElementsAre(3, 4, 5));
  const std::vector<float> dy = {7, 8, 9};
  EXPECT_THAT(elements<float>(ragged_slice_grad(rows(3, "2"), rt, view_of(dy, {3})).value()),
              ElementsAre(0, 0, 7, 8, 9));
  EXPECT_TRUE(is_error(ragged_slice_grad(rows(3, "0"), rt, view_of(dy, {3})), kInvalid, "[3] instead of [2]"));
  const RaggedTensor dense = RaggedTensor::make(tensor_of(counting<float>(6), {2, 3}), {}).value();
  EXPECT_THAT(elements<float>(ragged_slice_grad(rows(2, "1"), dense, view_of(dy, {3})).value()),
              ElementsAre(0, 0, 0, 7, 8, 9));
  EXPECT_THAT(values_of(ragged_slice(rows(2, "::-1"), dense).value()), ElementsAre(4, 5, 6, 1, 2, 3));
}

TEST(RaggedTensor, TheGradientHasTheDtypeOfTheValues) {
  const std::vector<double> dy(2);
  EXPECT_TRUE(is_error(ragged_slice_grad(rows(3, "0"), three_rows(), view_of(dy, {2})), kInvalid,
                       "dtype float64, expected float32"));
  const auto bytes = [](std::int64_t size) { return Tensor::make(DType::Bytes, *Shape::make({2}), size).value(); };
  const RaggedTensor rt = RaggedTensor::make(bytes(3), {splits_of({0, 2})}).value();
  const Tensor wider = bytes(4);
  EXPECT_TRUE(is_error(ragged_slice_grad(rows(1, ":"), rt, wider.view()), kInvalid, "4 bytes, expected 3"));
}

TEST(RaggedTensor, RowsOfNoElementsMayBeHuge) {
  constexpr std::int64_t kHuge = std::int64_t{1} << 40;
  const Tensor none = Tensor::make(DType::Float32, *Shape::make({0, kHuge, kHuge})).value();
  const RaggedTensor rt = RaggedTensor::make(none, {splits_of({0, 0, 0})}).value();
  EXPECT_EQ(ragged_slice(rows(2, "::-1"), rt).value().values().shape(), none.shape());
  EXPECT_EQ(ragged_slice_grad(rows(2, "1:"), rt, none.view()).value().shape(), none.shape());
  EXPECT_EQ(rt.row(1).value().values().shape(), none.shape());
  const Tensor flat = Tensor::make(DType::Int8, *Shape::make({std::int64_t{1} << 62, 0})).value();
  const RaggedTensor many = RaggedTensor::make(flat, {}).value();
  EXPECT_EQ(ragged_slice(rows(many.rows(), "::2"), many).value().rows(), many.rows() / 2);
}

}  // namespace
}  // namespace backslice
