#include "plan/split.h"

#include "kernels/slice/kernel.h"
#include "testing.h"

namespace backslice {
namespace {

using namespace testing;

TEST(Split, PartsWriteWhatTheWholeWrites) {
  std::mt19937 random(11);
  for (int i = 0; i < 1000; ++i) {
    const Selection s = random_selection(random, 4);
    const RandomTensor dst = random_tensor(random, DType::Int16, s.shape());
    const RandomTensor src = random_tensor(random, DType::Int16, s.result_shape());
    const Plan plan = plan_scatter(s, dst.view.layout, src.view.layout, Widen::Yes);
    if (s.shape().elements() == 0) continue;
    std::vector<std::byte> whole = dst.memory, parts = dst.memory;
    const std::ptrdiff_t first = dst.view.data - dst.memory.data();
    reference::overwrite(plan, DType::Int16, whole.data() + first, src.view.data);
    std::int64_t bytes = 0;
    for (const Plan& part : split(plan, 1 + static_cast<std::int64_t>(random() % 9))) {
      bytes += part.dst_bytes();
      reference::overwrite(part, DType::Int16, parts.data() + first, src.view.data);
    }
    EXPECT_EQ(parts, whole) << s.explain() << to_string(plan);
    EXPECT_EQ(bytes, plan.dst_bytes());
  }
}

TEST(Split, ASelectedCornerStillGivesEveryPartWork) {
  const Selection corner = *Selection::from_index({1000, 1000}, "0:2, 0:2");
  const Layout dst = contiguous_layout(corner.shape(), 4), src = contiguous_layout(corner.result_shape(), 4);
  const auto parts = split(plan_scatter(corner, dst, src, Widen::Yes), 8);
  ASSERT_EQ(parts.size(), 8u);
  for (const Plan& part : parts) EXPECT_EQ(part.dst_bytes(), 4'000'000 / 8);
}

Plan gradient_of(Ints shape, std::string_view index) {
  const Selection s = *Selection::from_index(shape, index);
  const Layout dst = contiguous_layout(s.shape(), 4), src = contiguous_layout(s.result_shape(), 4);
  return plan_scatter(s, dst, src, Widen::Yes);
}

TEST(Split, FewOuterPositionsAreCutFurtherInIntoAsManyPartsAsAskedFor) {
  EXPECT_EQ(split(gradient_of({3, 1000}, ":, 5:"), 8).size(), 8u);
  EXPECT_EQ(split(gradient_of({3, 1024, 1024}, ":, 1:"), 8).size(), 8u);
  EXPECT_EQ(split(gradient_of({2, 3, 1024, 512}, ":, :, 1:"), 8).size(), 8u);
  EXPECT_EQ(split(gradient_of({5, 7, 11, 3}, ":, 1:, ::2, 1:"), 300).size(), 300u);
  EXPECT_EQ(split(gradient_of({3, 1000}, "::2"), 9).size(), 9u);  // a row of zeros, too
}

TEST(Split, RandomPlansAreCutIntoAsManyPartsAsAskedFor) {
  std::mt19937 random(12);
  for (int i = 0; i < 500; ++i) {
    const Selection s = random_selection(random, 4);
    const Layout dst = contiguous_layout(s.shape(), 4), src = contiguous_layout(s.result_shape(), 4);
    const Plan plan = plan_scatter(s, dst, src, Widen::No);
    std::int64_t positions = 1;
    for (const Loop& loop : plan.loops()) positions *= loop.extent;
    const auto pieces = 1 + static_cast<std::int64_t>(random() % 20);
    if (plan.is_empty() || positions < pieces) continue;
    EXPECT_EQ(split(plan, pieces).size(), static_cast<std::size_t>(pieces)) << to_string(plan);
  }
}

}  // namespace
}  // namespace backslice
