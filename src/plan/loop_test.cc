#include "plan/loop.h"

#include "testing.h"

namespace backslice {
namespace {

using namespace testing;

TEST(Loop, ReversedDestinationsAreWalkedForward) {
  const PlacedLoop placed = forward_loop(10, {2, 3, 2}, -4, 8);  // positions 2 and 5
  EXPECT_EQ(placed.loop, (Loop{10, 4, 3, 2, 4, -8}));
  EXPECT_EQ(placed.dst_offset, -36);
  EXPECT_EQ(placed.src_offset, 8);
}

TEST(Loop, NegativeStepsWalkTheSourceBackwards) {
  const PlacedLoop placed = forward_loop(10, {8, -3, 3}, 4, 8);  // positions 8, 5 and 2
  EXPECT_EQ(placed.loop, (Loop{10, 2, 3, 3, 4, -8}));
  EXPECT_EQ(placed.dst_offset, 0);
  EXPECT_EQ(placed.src_offset, 16);
}

TEST(Loop, ReversedTwiceIsForward) { EXPECT_EQ(forward_loop(10, {8, -3, 3}, -4, 8).loop, (Loop{10, 1, 3, 3, 4, 8})); }

TEST(Loop, WhereOneOrNothingIsTakenNobodySteps) {
  EXPECT_EQ(forward_loop(10, {7, 1, 1}, 4, 8).loop, (Loop{10, 7, 1, 1, 4, 0}));
  EXPECT_EQ(forward_loop(10, {0, 1, 0}, -4, 8).loop, (Loop{10, 0, 1, 0, 4, 0}));
}

TEST(Loop, RestrictedToAPartItTakesWhatIsInside) {
  const Loop loop = {10, 1, 3, 3, 4, 8};  // positions 1, 4 and 7
  const PlacedLoop part = restricted(loop, {3, 8});
  EXPECT_EQ(part.loop, (Loop{5, 1, 3, 2, 4, 8}));
  EXPECT_EQ(part.dst_offset, 12);
  EXPECT_EQ(part.src_offset, 8);
  EXPECT_EQ(restricted(loop, {2, 4}).loop, (Loop{2, 0, 1, 0, 4, 0}));
  EXPECT_EQ(restricted(loop, {6, 8}).loop, (Loop{2, 1, 1, 1, 4, 8}));
}

TEST(Loop, RunsMergeIntoOneRun) {
  const Loop outer = {6, 2, 1, 3, 20, 20}, inner = {5, 0, 1, 5, 4, 4};
  ASSERT_TRUE(are_adjacent(outer, inner));
  ASSERT_TRUE(take_one_run(outer, inner));
  EXPECT_EQ(merged(outer, inner), (Loop{30, 10, 1, 15, 4, 4}));
  EXPECT_FALSE(take_one_run({6, 2, 1, 3, 20, 24}, inner));            // the source has gaps
  EXPECT_FALSE(take_one_run({6, 0, 2, 3, 20, 20}, inner));            // every other
  EXPECT_FALSE(can_merge({6, 2, 1, 3, 20, 16}, {5, 0, 1, 4, 4, 4}));  // the inner leaves one out
  EXPECT_FALSE(are_adjacent({6, 2, 1, 3, 24, 20}, inner));
}

TEST(Loop, EvenStepsMergeIntoSteps) {
  const Loop outer = {7, 0, 1, 7, 32, 16}, inner = {8, 1, 2, 4, 4, 4};
  ASSERT_TRUE(can_merge(outer, inner));
  EXPECT_FALSE(take_one_run(outer, inner));
  EXPECT_EQ(merged(outer, inner), (Loop{56, 1, 2, 28, 4, 4}));
}

TEST(Loop, StridesOfASliceAreFoundByTheAxisTheyComeFrom) {
  const Selection s = *Selection::from_index({4, 5, 6}, "1:3, 2, newaxis");
  const auto strides = strides_by_input_axis(s, contiguous_layout(s.result_shape(), 4));
  EXPECT_EQ(strides[0], 24);
  EXPECT_EQ(strides[1], 0);
  EXPECT_EQ(strides[2], 4);
}

}  // namespace
}  // namespace backslice
