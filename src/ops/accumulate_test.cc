#include <algorithm>
#include <atomic>

#include "core/small_float.h"
#include "testing.h"

namespace backslice {
namespace {

using namespace testing;

constexpr Write kAccumulate = Write::Accumulate;

TEST(Accumulate, AddsToTheSelectedAndLeavesTheRest) {
  std::vector<float> out = {10, 20, 30, 40, 50};
  const std::vector<float> dy = {1, 2};
  EXPECT_TRUE(slice_grad_into(at({5}, "3:0:-2"), view_of(dy, {2}), view_of(out, {5}), kAccumulate).ok());
  EXPECT_THAT(out, ElementsAre(10, 22, 30, 41, 50));
}

TEST(Accumulate, BroadcastDyAddsToEach) {
  std::vector<float> out = {1, 2, 3};
  const float one = 1;
  const ConstView dy = ConstView::strided(&one, {3}, {0}).value();
  EXPECT_TRUE(slice_grad_into(at({3}, ":"), dy, view_of(out, {3}), kAccumulate).ok());
  EXPECT_THAT(out, ElementsAre(2, 3, 4));
}

TEST(Accumulate, IntegersWrap) {
  std::vector<std::int32_t> out = {std::numeric_limits<std::int32_t>::max()};
  const std::vector<std::int32_t> dy = {1};
  EXPECT_TRUE(slice_grad_into(at({1}, ":"), view_of(dy, {1}), view_of(out, {1}), kAccumulate).ok());
  EXPECT_EQ(out[0], std::numeric_limits<std::int32_t>::min());
}

TEST(Accumulate, BFloat16RoundsToNearestEven) {
  // 1 + 3 * 2^-8 lies between 1 + 2^-7 and 1 + 2^-6; truncation would take the lower.
  std::uint16_t out[] = {0x3f80};
  const std::uint16_t dy[] = {0x3c40};
  const Status s = slice_grad_into(at({1}, ":"), *ConstView::contiguous(dy, DType::BFloat16, {1}),
                                   *View::contiguous(out, DType::BFloat16, {1}), kAccumulate);
  EXPECT_TRUE(s.ok());
  EXPECT_EQ(out[0], 0x3f82);
}

TEST(Accumulate, ComplexAddsBothParts) {
  float out[] = {1, 2};
  const float dy[] = {10, 20};
  const Status s = slice_grad_into(at({1}, ":"), *ConstView::contiguous(dy, DType::Complex64, {1}),
                                   *View::contiguous(out, DType::Complex64, {1}), kAccumulate);
  EXPECT_TRUE(s.ok());
  EXPECT_THAT(out, ElementsAre(11, 22));
}

// Into memory that is zero already: the same gradient, and the gaps are not touched.
TEST(IntoZeros, WritesWhatIsSelectedAlone) {
  const std::vector<float> dy = {1, 2};
  std::vector<float> out = {0, 0, 0, 0, 7};  // not all zero, so that a write of zeros would show
  EXPECT_TRUE(slice_grad_into(at({5}, "3:0:-2"), view_of(dy, {2}), view_of(out, {5}), Write::IntoZeros).ok());
  EXPECT_THAT(out, ElementsAre(0, 2, 0, 1, 7));
}

TEST(Accumulate, UnalignedElementsAdd) {
  std::byte memory[9] = {}, term[9] = {};
  const float two = 2, three = 3;
  std::memcpy(memory + 1, &two, 4);
  std::memcpy(term + 3, &three, 4);
  EXPECT_TRUE(slice_grad_into(at({}, ""), *ConstView::contiguous(term + 3, DType::Float32, {}),
                              *View::contiguous(memory + 1, DType::Float32, {}), kAccumulate)
                  .ok());
  float sum;
  std::memcpy(&sum, memory + 1, 4);
  EXPECT_EQ(sum, 5);
}

// Cancels at each check. If the error says that nothing was written, the call can be repeated.
TEST(Accumulate, ACancelledSumSaysWhetherItWasBegun) {
  constexpr std::int64_t kSize = 1 << 18;
  const Selection all = Selection::all(*Shape::make({kSize}));
  const std::vector<float> ones(kSize, 1);
  const std::vector<SliceGradient> slices(3, SliceGradient{all, view_of(ones, {kSize})});
  const auto pool = make_thread_executor(2);
  int without = 0, with = 0;
  for (int stop = 1; stop < 40; ++stop) {
    std::vector<float> out(kSize, 0);
    std::atomic<int> asked = 0;
    const CancelledTest cancelled = [&] { return ++asked >= stop; };
    const Context context{.executor = pool.get(), .cancelled = &cancelled};
    const Status status = multi_slice_grad_into({kSize}, slices, view_of(out, {kSize}), Write::Accumulate, context);
    if (status.ok()) continue;
    EXPECT_EQ(status.code(), StatusCode::Cancelled);
    const bool is_changed = std::count(out.begin(), out.end(), 0.0f) != kSize;
    EXPECT_EQ(status.output_written(), is_changed) << stop;
    ++(is_changed ? with : without);
  }
  EXPECT_GT(without, 0);
  EXPECT_GT(with, 0);
}

}  // namespace
}  // namespace backslice
