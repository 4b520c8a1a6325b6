// Plans for devices whose tensors are too large for a test to hold: addresses are made up, and nothing is touched.
#include "kernels/slice/device_plan.h"

#include "kernels/slice/device_rows.h"
#include "testing.h"

namespace backslice::cuda {
namespace {

std::byte* made_up(std::uintptr_t address) { return reinterpret_cast<std::byte*>(address); }

std::vector<DevicePlan> gradient_plans(Ints shape, std::string_view index, std::byte* dst, const std::byte* src) {
  const Selection s = *Selection::from_index(shape, index);
  const Layout dx = contiguous_layout(s.shape(), 1), dy = contiguous_layout(s.result_shape(), 1);
  return device_plans(plan_scatter(s, dx, dy, Widen::Yes), dst, src);
}

TEST(DevicePlan, RowsOfMoreBytesThanPositionsAreCut) {
  constexpr std::int64_t kRow = 2147483647;
  std::int64_t bytes = 0;
  for (const DevicePlan& plan : gradient_plans({3, kRow}, "::2", made_up(1 << 20), made_up(1 << 30))) {
    bytes += std::int64_t{plan.items} * plan.width;
  }
  EXPECT_EQ(bytes, 3 * kRow);
}

TEST(DevicePlan, StepsOfNearlyAllPositionsFindTheirItem) {
  constexpr std::uint32_t kStep = 1552569552;  // the second item is the first of a chunk
  const std::byte dy[] = {std::byte{5}, std::byte{7}};
  const auto plans = gradient_plans({kStep + 16}, "::1552569552", made_up(1 << 20), dy);
  ASSERT_EQ(plans.size(), 1u);
  ASSERT_EQ(plans[0].width, 1);
  EXPECT_EQ((chunk_of<1, 1>(plans[0], 0).low), 5u);
  EXPECT_EQ((chunk_of<1, 1>(plans[0], 16).low), 0u);
  EXPECT_EQ((chunk_of<1, 1>(plans[0], kStep).low), 7u);
}

}  // namespace
}  // namespace backslice::cuda
