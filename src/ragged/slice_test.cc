// Slices of ragged tensors and their gradients, compared with nested vectors that are indexed one axis at a time.
#include <cmath>
#include <random>

#include "backslice/ragged_slice.h"
#include "nested_index.h"
#include "ragged_tensors.h"

namespace backslice {
namespace {

using namespace testing;

// Values count from 1, so that each tells its position.
NestedList nested(const RaggedTensor& rt) {
  const auto values = values_of(rt);
  return nested_list(rt, std::vector<std::int64_t>(values.begin(), values.end()));
}

class Random {
 public:
  explicit Random(unsigned seed) : engine_(seed) {}
  std::int64_t within(std::int64_t lo, std::int64_t hi) { return std::uniform_int_distribution(lo, hi)(engine_); }
  bool chance(int percent) { return within(0, 99) < percent; }

  // Returns a tensor whose values count from 1, so that all differ.
  RaggedTensor ragged(int rank, const Dims& inner) {
    std::vector<Tensor> lists;
    std::int64_t count = within(0, 4);
    for (int level = 0; level < rank; ++level) {
      std::vector<std::int64_t> splits = {0};
      for (std::int64_t i = 0; i < count; ++i) splits.push_back(splits.back() + within(0, 3));
      count = splits.back();
      lists.push_back(splits_of(splits));
    }
    Dims shape;
    shape.push_back(count);
    for (const std::int64_t dim : inner) shape.push_back(dim);
    return RaggedTensor::make(tensor_of(counting<float>(Shape::make(shape).value().elements()), shape), lists).value();
  }

  Index index(int axes) {
    Index items;
    if (chance(20)) --axes;
    for (int axis = 0; axis < axes; ++axis) {
      if (chance(15)) items.push_back(NewAxis{});
      items.push_back(chance(30) ? IndexItem(within(-4, 3)) : chance(25) ? IndexItem(SliceRange{}) : slice());
    }
    if (chance(15)) items.push_back(NewAxis{});
    return items;
  }

 private:
  IndexItem slice() {
    const auto bound = [&] { return chance(50) ? std::optional(within(-5, 5)) : std::nullopt; };
    const std::int64_t step = within(1, 3);
    return SliceRange{bound(), bound(), chance(30) ? std::nullopt : std::optional(chance(50) ? step : -step)};
  }

  std::mt19937 engine_;
};

// Makes the slice in both ways.
void expect_slice(const RaggedTensor& rt, const Index& index, const NestedList& expected) {
  const RaggedTensor made = ragged_slice(index, rt).value();
  EXPECT_EQ(nested(made), expected);
  const RaggedSize size = ragged_slice_size(index, rt).value();
  ASSERT_EQ(size.values, made.values().shape());
  std::vector<std::vector<std::int64_t>> splits;
  RaggedView out;
  for (const std::int64_t length : size.splits) splits.emplace_back(length, -1);
  for (auto& list : splits) out.splits.push_back(view_of(list, {std::ssize(list)}));
  std::vector<float> values(static_cast<std::size_t>(size.values.elements()), -1);
  out.values = view_of(values, size.values);
  ASSERT_TRUE(ragged_slice_into(index, rt, out).ok());
  EXPECT_EQ(values, values_of(made));
  for (std::size_t level = 0; level < splits.size(); ++level) {
    EXPECT_EQ(splits[level], elements<std::int64_t>(Tensor(made.nested_row_splits()[level])));
  }
}

// Values are their positions plus one, so the slice's values say where the gradient goes.
void expect_gradient(const RaggedTensor& rt, const Index& index, const std::vector<std::int64_t>& taken) {
  const Shape shape = ragged_slice_size(index, rt).value().values;
  std::vector<float> dy(taken.size()), expected(static_cast<std::size_t>(rt.values().shape().elements()));
  for (std::size_t i = 0; i < dy.size(); ++i) {
    dy[i] = static_cast<float>(100 + i);
    expected[static_cast<std::size_t>(taken[i]) - 1] = dy[i];
  }
  EXPECT_EQ(elements<float>(ragged_slice_grad(index, rt, view_of(dy, shape)).value()), expected);
  std::vector<float> sum(expected.size(), -0.0f);
  ASSERT_TRUE(
      ragged_slice_grad_into(index, rt, view_of(dy, shape), view_of(sum, rt.values().shape()), Write::Accumulate).ok());
  for (std::size_t i = 0; i < sum.size(); ++i) {
    EXPECT_EQ(sum[i], expected[i]);
    EXPECT_EQ(std::signbit(sum[i]), expected[i] == 0) << "elements that are not taken are not touched";
  }
}

TEST(RaggedSlice, TakesAndGivesBackWhatNestedVectorsDo) {
  Random random(1);
  int taken = 0, refused = 0;
  for (int round = 0; round < 30000; ++round) {
    const int rank = static_cast<int>(random.within(0, 3));
    Dims inner;
    for (std::int64_t left = random.within(0, 2); left > 0; --left) inner.push_back(random.within(0, 3));
    const RaggedTensor rt = random.ragged(rank, inner);
    const int axes = rank + 1 + static_cast<int>(inner.size());
    const Index index = random.index(axes);
    SCOPED_TRACE(to_string(index) + " of ragged rank " + std::to_string(rank));
    const auto made = ragged_slice(index, rt);
    const auto expected = is_allowed(index, rank) ? indexed(nested(rt), index) : std::nullopt;
    ASSERT_TRUE(expected || !made.ok());
    if (!made.ok()) {
      // An integer of an inner axis is out of bounds even if no row is left.
      ASSERT_TRUE(!expected || made.status().code() == StatusCode::OutOfRange) << made.status().message();
      ++refused;
      continue;
    }
    expect_slice(rt, index, *expected);
    std::vector<std::int64_t> values;
    flatten(*expected, axes_left(index, axes), values);
    expect_gradient(rt, index, values);
    if (HasFailure()) return;
    ++taken;
  }
  EXPECT_GT(taken, 8000);
  EXPECT_GT(refused, 3000);
}

Index of(std::string_view text) { return parse_index(text).value(); }

TEST(RaggedSlice, NamesWhatCannotBeIndexed) {
  const RaggedTensor rt = deep();
  constexpr auto kOut = StatusCode::OutOfRange;
  EXPECT_TRUE(
      is_error(ragged_slice(of(":, 0"), rt), kInvalid, "index 0 is for axis 1, which is ragged", "takes a slice"));
  EXPECT_TRUE(is_error(ragged_slice(of("0, :, -1"), rt), kInvalid, "index -1 is for axis 2, which is ragged"));
  EXPECT_TRUE(is_error(ragged_slice(of("..., 0"), rt), kInvalid, "index 0 is for axis 2, which is ragged"));
  EXPECT_TRUE(is_error(ragged_slice(of("None, 0, 0"), rt), kInvalid, "put None after them"));
  EXPECT_TRUE(is_error(ragged_slice(of("0, 0, 0, 0"), rt), kOut, "has 3 axes, but 4 were indexed"));
  EXPECT_TRUE(is_error(ragged_slice(of("..., ..."), rt), kOut, "single ellipsis"));
  EXPECT_TRUE(is_error(ragged_slice(of("3"), rt), kOut, "row 3 is out of bounds for 3 rows"));
  EXPECT_TRUE(
      is_error(ragged_slice(of("0, -2"), rt), kOut, "index -2 is out of bounds for axis 1: the row has 1 item"));
  EXPECT_TRUE(is_error(ragged_slice(of("0, 0, 2"), rt), kOut, "index 2 is out of bounds for axis 2 with size 2"));
  EXPECT_TRUE(is_error(ragged_slice(of(":, ::0"), rt), kInvalid, "step cannot be zero (axis 1)"));
  EXPECT_TRUE(is_error(ragged_slice(of(":0, :, ::0"), rt), kInvalid, "step cannot be zero (axis 2)"));
}

TEST(RaggedSlice, RefusesMoreNewAxesThanAResultHasRoomFor) {
  const Index index = repeated(33, NewAxis{});
  EXPECT_TRUE(is_error(ragged_slice(index, deep()), kInvalid, "adds 33 ragged axes; at most 32"));
  Index deeper = {0, 0};
  for (const IndexItem& item : index) deeper.push_back(item);
  EXPECT_TRUE(is_error(ragged_slice(deeper, deep()), kInvalid, "at most 32"));
}

TEST(RaggedSlice, RefusesToFollowManySlicesDown) {
  std::vector<Tensor> splits;
  for (int level = 0; level < 1000; ++level) splits.push_back(splits_of({0, 1, 2}));
  const RaggedTensor rt = RaggedTensor::make(vector_of({1, 2}), splits).value();
  EXPECT_TRUE(is_error(ragged_slice(repeated(1000, SliceRange{{}, {}, -1}), rt), kInvalid, "slices 999 ragged axes"));
  EXPECT_EQ(values_of(ragged_slice(of("::-1"), rt).value()), (std::vector<float>{2, 1}));
}

TEST(RaggedSlice, SharesValuesThatLieTogether) {
  const RaggedTensor rt =
      RaggedTensor::make(tensor_of(counting<float>(12), {6, 2}), {splits_of({0, 2, 2, 5, 6})}).value();
  for (const char* index :
       {"1:", ":", "..., None", ":, None", "None", "2", "2, 1:", "2, 1", "2, 1, 1", ":, :, None, :"}) {
    const RaggedTensor taken = ragged_slice(of(index), rt).value();
    EXPECT_TRUE(taken.values().buffer().is_same_block(rt.values().buffer())) << index;
  }
}

TEST(RaggedSlice, TakesValuesWithoutElementsWhoseRowsAreLarge) {
  const std::int64_t large = std::int64_t{1} << 40;
  const Tensor values = Tensor::make(DType::Float32, *Shape::make({0, large, large})).value();
  const RaggedTensor rt = RaggedTensor::make(values, {splits_of({0, 0, 0})}).value();
  const RaggedTensor taken = ragged_slice(of("::-1, 1:, 1:, 5"), rt).value();
  EXPECT_EQ(taken.values().shape(), *Shape::make({0, large - 1}));
  EXPECT_EQ(ragged_slice_grad(of("::-1, 1:, 1:, 5"), rt, taken.values().view()).value().shape(), values.shape());
}

TEST(RaggedSlice, EndsWhenItIsCancelled) {
  std::vector<std::int64_t> splits;
  for (std::int64_t i = 0; i <= 20000; ++i) splits.push_back(i);
  const RaggedTensor rt =
      RaggedTensor::make(tensor_of(counting<float>(40000), {20000, 2}), {splits_of(splits)}).value();
  const std::vector<float> dy(20000);
  for (const char* index : {"::2, ::-1", "::2, :, 1"}) {
    for (const int after : {0, 3, 12}) {
      int asked = 0;
      const CancelledTest cancelled = [&] { return asked++ >= after; };
      const Context context{.cancelled = &cancelled};
      EXPECT_TRUE(is_error(ragged_slice(of(index), rt, context), StatusCode::Cancelled, ""));
      asked = 0;
      const Shape shape = ragged_slice_size(of(index), rt).value().values;
      const auto dx = ragged_slice_grad(of(index), rt, view_of(dy, shape), context);
      EXPECT_TRUE(is_error(dx, StatusCode::Cancelled, ""));
    }
  }
}

TEST(RaggedSlice, GradientsKeepTheValuesDtype) {
  const RaggedTensor rt = ragged({1, 2, 3}, {{0, 2, 3}});
  const std::vector<double> wide(2);
  const std::vector<float> dy(3);
  EXPECT_TRUE(
      is_error(ragged_slice_grad(of(":, :1"), rt, view_of(wide, {2})), kInvalid, "dtype float64, expected float32"));
  EXPECT_TRUE(is_error(ragged_slice_grad(of(":, :1"), rt, view_of(dy, {3})), kInvalid, "[3] instead of [2]"));
}

}  // namespace
}  // namespace backslice
