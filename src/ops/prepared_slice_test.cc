#include "backslice/prepared_slice.h"

#include "testing.h"

namespace backslice {
namespace {

using namespace testing;

TEST(PreparedSlice, RunsOften) {
  const PreparedSlice columns = PreparedSlice::make(at({2, 4}, ":, 1::2"), DType::Float32).value();
  const auto x = counting<float>(8);
  std::vector<float> y(4), dx(8, -1);
  for (int i = 0; i < 3; ++i) {
    ASSERT_TRUE(columns.forward(view_of(x, {2, 4}), view_of(y, {2, 2})).ok());
    EXPECT_THAT(y, ElementsAre(2, 4, 6, 8));
    ASSERT_TRUE(columns.gradient(view_of(std::as_const(y), {2, 2}), view_of(dx, {2, 4})).ok());
    EXPECT_THAT(dx, ElementsAre(0, 2, 0, 4, 0, 6, 0, 8));
    ASSERT_TRUE(columns.accumulate(view_of(std::as_const(y), {2, 2}), view_of(dx, {2, 4})).ok());
    EXPECT_THAT(dx, ElementsAre(0, 4, 0, 8, 0, 12, 0, 16));
  }
}

TEST(PreparedSlice, DoesWhatTheOperationsDo) {
  std::mt19937 random(3);
  for (int i = 0; i < 200; ++i) {
    const Selection s = random_selection(random, 4);
    RandomTensor x = random_tensor(random, DType::Int32, s.shape()),
                 y = random_tensor(random, DType::Int32, s.result_shape());
    const PreparedSlice prepared = PreparedSlice::make(s, DType::Int32, x.view.layout, y.view.layout).value();
    RandomTensor same_x = x, same_y = y;
    const auto moved = [](RandomTensor& copy, const RandomTensor& original) {
      View view = original.view;
      view.data = copy.memory.data() + (original.view.data - original.memory.data());
      return view;
    };
    const auto expect_same = [&](const Status& got, const Status& expected) {
      EXPECT_TRUE(got.ok() && expected.ok()) << got.to_string() << expected.to_string();
      EXPECT_EQ(x.memory, same_x.memory);
      EXPECT_EQ(y.memory, same_y.memory);
    };
    expect_same(prepared.accumulate(y.view, x.view),
                slice_grad_into(s, moved(same_y, y), moved(same_x, x), Write::Accumulate));
    expect_same(prepared.forward(x.view, y.view), slice_into(s, moved(same_x, x), moved(same_y, y)));
    expect_same(prepared.gradient(y.view, x.view), slice_grad_into(s, moved(same_y, y), moved(same_x, x)));
  }
}

TEST(PreparedSlice, RefusesWhatItWasNotPreparedFor) {
  constexpr auto kInvalid = StatusCode::InvalidArgument;
  const PreparedSlice rows = PreparedSlice::make(at({3, 2}, "1:"), DType::Float32).value();
  std::vector<float> x(6), y(4);
  std::vector<std::int32_t> ints(4);
  EXPECT_TRUE(is_error(rows.forward(view_of(y, {2, 2}), view_of(y, {2, 2})), kInvalid, "x has shape [2,2]"));
  EXPECT_TRUE(is_error(rows.gradient(view_of(ints, {2, 2}), view_of(x, {3, 2})), kInvalid, "prepared for float32"));
  const View turned = View::strided(x.data(), {3, 2}, {1, 3}).value();
  EXPECT_TRUE(is_error(rows.accumulate(view_of(y, {2, 2}), turned), kInvalid, "byte strides [4,12]"));
  EXPECT_TRUE(is_error(rows.gradient(view_of(x, {2, 2}), view_of(x, {3, 2})), kInvalid, "out shares memory with dy"));
  const View nowhere = View::contiguous(nullptr, DType::Float32, {3, 2}).value();
  EXPECT_TRUE(is_error(rows.gradient(view_of(y, {2, 2}), nowhere), kInvalid, "its data is null"));
}

TEST(PreparedSlice, IgnoresStridesThatNobodyStepsBy) {
  const PreparedSlice row = PreparedSlice::make(at({1, 3}, ":, 1:"), DType::Float32).value();
  const auto x = counting<float>(3);
  std::vector<float> y(2);
  const ConstView one_row = ConstView::strided(x.data(), {1, 3}, {-100, 1}).value();
  ASSERT_TRUE(row.forward(one_row, view_of(y, {1, 2})).ok());
  EXPECT_THAT(y, ElementsAre(2, 3));
  const PreparedSlice nothing = PreparedSlice::make(at({0, 3}, ":, 1:"), DType::Float32).value();
  const ConstView empty = ConstView::strided(x.data(), {0, 3}, {2, 2}).value();
  EXPECT_TRUE(nothing.forward(empty, view_of(y, {0, 2})).ok());
}

TEST(PreparedSlice, RefusesWhatNoGradientHas) {
  constexpr auto kInvalid = StatusCode::InvalidArgument;
  const std::byte dy[2] = {};
  std::byte dx[4] = {};
  const auto views = [&](DType dtype, const auto& run) {
    return run(ConstView::contiguous(dy, dtype, {2}).value(), View::contiguous(dx, dtype, {4}).value());
  };
  const PreparedSlice flags = PreparedSlice::make(at({4}, "1:3"), DType::Bool).value();
  EXPECT_TRUE(is_error(views(DType::Bool, [&](auto in, auto out) { return flags.accumulate(in, out); }), kInvalid,
                       "cannot be added"));
  const PreparedSlice powers = PreparedSlice::make(at({4}, "1:3"), DType::Float8E8M0FNU).value();
  EXPECT_TRUE(is_error(views(DType::Float8E8M0FNU, [&](auto in, auto out) { return powers.gradient(in, out); }),
                       kInvalid, "has no zero"));
  const auto all = Selection::all(*Shape::make({4}));
  EXPECT_FALSE(PreparedSlice::make(all, DType::Float32, contiguous_layout(all.shape(), 4),
                                   contiguous_layout(*Shape::make({5}), 4))
                   .ok());
  EXPECT_FALSE(
      PreparedSlice::make(all, DType::Float32, contiguous_layout(all.shape(), 3), contiguous_layout(all.shape(), 4))
          .ok());
}

TEST(PreparedSlice, TakesMemoryWithoutViews) {
  const PreparedSlice middle = PreparedSlice::make(at({4}, "1:3"), DType::Float32).value();
  const std::vector<float> dy = {1, 2};
  std::vector<float> dx(4, -1);
  ASSERT_TRUE(middle.gradient(dy.data(), dx.data()).ok());
  EXPECT_THAT(dx, ElementsAre(0, 1, 2, 0));
}

TEST(PreparedSlice, ChecksMemoryWithoutViews) {
  constexpr auto kInvalid = StatusCode::InvalidArgument;
  const PreparedSlice middle = PreparedSlice::make(at({4}, "1:3"), DType::Float32).value();
  std::vector<float> memory(8);
  std::byte* bytes = reinterpret_cast<std::byte*>(memory.data());
  EXPECT_TRUE(is_error(middle.gradient(nullptr, bytes), kInvalid, "data is null"));
  EXPECT_TRUE(middle.gradient(bytes + 1, bytes + 16).ok());  // numbers may have any address, objects may not
  const PreparedSlice texts = PreparedSlice::make(at({4}, "1:3"), DType::String).value();
  EXPECT_TRUE(is_error(texts.gradient(bytes + 1, bytes + 8), kInvalid, "must be aligned"));
  EXPECT_TRUE(is_error(middle.gradient(bytes, bytes + 4), kInvalid, "shares memory"));
  EXPECT_TRUE(is_error(middle.gradient(bytes + 12, bytes), kInvalid, "shares memory"));
  EXPECT_TRUE(middle.gradient(bytes + 16, bytes).ok());
  EXPECT_TRUE(middle.gradient(bytes, bytes + 8).ok());
  const PreparedSlice powers = PreparedSlice::make(at({4}, "1:3"), DType::Float8E8M0FNU).value();
  EXPECT_TRUE(is_error(powers.gradient(bytes, bytes + 8), kInvalid, "has no zero"));
  const PreparedSlice nothing = PreparedSlice::make(at({0}, ":"), DType::Float32).value();
  EXPECT_TRUE(nothing.gradient(nullptr, static_cast<void*>(nullptr)).ok());
}

// Gradients of any size, in any order.
TEST(PreparedSlice, RefusesAnAllocatorOfAnotherDeviceWithoutViews) {
  class Elsewhere final : public Allocator {
    Result<Buffer> allocate(std::int64_t, Contents) override { return Buffer(); }
    Device device() const override { return Device::cuda(0); }
  } elsewhere;
  const PreparedSlice middle = PreparedSlice::make(at({4}, "1:3"), DType::Float32).value();
  const std::vector<float> dy = {1, 2};
  std::vector<float> dx(4, -1);
  for (int i = 0; i < 2; ++i) {
    ASSERT_TRUE(middle.gradient(dy.data(), dx.data()).ok());
    EXPECT_TRUE(is_error(middle.gradient(dy.data(), dx.data(), {.allocator = &elsewhere}), StatusCode::InvalidArgument,
                         "the context's allocator gives memory on cuda:0"));
  }
}

TEST(PreparedSlice, TakesMemoryOfAnyLayoutWithoutViews) {
  const Selection all = Selection::all(*Shape::make({3}));
  Layout apart = contiguous_layout(all.shape(), 4);
  apart.strides[0] = 8;
  const PreparedSlice spread =
      PreparedSlice::make(all, DType::Float32, apart, contiguous_layout(all.shape(), 4)).value();
  const std::vector<float> dy = {1, 2, 3};
  std::vector<float> dx(5, -1);
  ASSERT_TRUE(spread.gradient(dy.data(), dx.data()).ok());
  EXPECT_THAT(dx, ElementsAre(1, -1, 2, -1, 3));
}

TEST(PreparedSlice, MovesStrings) {
  const PreparedSlice last = PreparedSlice::make(at({3}, "2"), DType::String).value();
  const std::vector<std::string> x = {"a", "b", "c"};
  std::vector<std::string> y = {"?"}, dx(3, "?");
  ASSERT_TRUE(last.forward(view_of(x, {3}), view_of(y, {})).ok());
  ASSERT_TRUE(last.gradient(view_of(std::as_const(y), {}), view_of(dx, {3})).ok());
  EXPECT_THAT(dx, ElementsAre("", "", "c"));
}

}  // namespace
}  // namespace backslice
