// Plans are values: these tests run no kernel and touch no tensor.
#include "plan/plan.h"

#include <limits>

#include "testing.h"

namespace backslice {
namespace {

using namespace testing;

constexpr std::int64_t kFloat = 4;

Layout dense(Ints shape) { return contiguous_layout(Shape::make(shape).value(), kFloat); }
Layout strided(Ints shape, Ints strides) { return {Shape::make(shape).value(), Dims(strides), kFloat}; }

Plan scatter(Ints shape, std::string_view index, Widen widen = Widen::Yes) {
  const Selection s = *Selection::from_index(shape, index);
  return plan_scatter(s, dense(shape), dense(s.result_shape()), widen);
}

TEST(Plan, RowsOfAMatrixAreOneRun) {
  const Plan plan = scatter({4, 5}, "1:3");
  EXPECT_EQ(plan.item_size(), kFloat);
  EXPECT_THAT(plan.loops(), ElementsAre(Loop{20, 5, 1, 10, 4, 4}));
}

TEST(Plan, WholeTensorsAreOneItem) {
  const Plan plan = scatter({4, 5, 6}, "...");
  EXPECT_EQ(plan.item_size(), 4 * 5 * 6 * kFloat);
  EXPECT_TRUE(plan.loops().empty());
}

TEST(Plan, EveryOtherRowWidensTheRow) {
  const Plan plan = scatter({4, 5, 6}, "::2");
  EXPECT_EQ(plan.item_size(), 5 * 6 * kFloat);
  EXPECT_THAT(plan.loops(), ElementsAre(Loop{4, 0, 2, 2, 120, 120}));
}

TEST(Plan, TypedElementsAreNotWidened) {
  const Plan plan = scatter({4, 5, 6}, "::2", Widen::No);
  EXPECT_EQ(plan.item_size(), kFloat);
  EXPECT_THAT(plan.loops(), ElementsAre(Loop{4, 0, 2, 2, 120, 120}, Loop{30, 0, 1, 30, 4, 4}));
}

TEST(Plan, ColumnsKeepTwoLoops) {
  const Plan plan = scatter({4, 5}, ":, 1:3");
  EXPECT_THAT(plan.loops(), ElementsAre(Loop{4, 0, 1, 4, 20, 8}, Loop{5, 1, 1, 2, 4, 4}));
}

TEST(Plan, OuterAxesMergeWhereTheInnerIsWhole) {
  const Plan plan = scatter({2, 3, 4, 5}, ":, :, 1:3");
  EXPECT_THAT(plan.loops(), ElementsAre(Loop{6, 0, 1, 6, 80, 40}, Loop{20, 5, 1, 10, 4, 4}));
}

TEST(Plan, OneIndexOfAnAxisIsAStepOfItsExtent) {
  const Plan plan = scatter({2, 3, 4}, ":, 1");
  EXPECT_EQ(plan.item_size(), 4 * kFloat);
  EXPECT_THAT(plan.loops(), ElementsAre(Loop{6, 1, 3, 2, 16, 16}));
}

TEST(Plan, EvenStepsRunOnAcrossRows) {
  EXPECT_THAT(scatter({7, 8}, ":, 1::2").loops(), ElementsAre(Loop{56, 1, 2, 28, 4, 4}));
  EXPECT_EQ(scatter({7, 9}, ":, 1::2").loops().size(), 2u);
}

TEST(Plan, RestrictKeepsWhatThePartTakes) {
  const Plan whole = scatter({10, 4}, "1::3, 1:3");  // rows 1, 4, 7
  const Plan part = whole.restrict(0, 3, 8);
  EXPECT_THAT(part.loops(), ElementsAre(Loop{5, 1, 3, 2, 16, 8}, Loop{4, 1, 1, 2, 4, 4}));
  EXPECT_EQ(part.dst_offset(), 3 * 16);
  EXPECT_EQ(part.src_offset(), 8);
  EXPECT_THAT(whole.restrict(0, 2, 4).loops(), ElementsAre(Loop{8, 0, 1, 0, 4, 0}));  // no rows: one run of zeros
}

TEST(Plan, ReversedAxesWalkTheSourceBackwards) {
  const Plan plan = scatter({5}, "::-2");
  EXPECT_THAT(plan.loops(), ElementsAre(Loop{5, 0, 2, 3, 4, -4}));
  EXPECT_EQ(plan.src_offset(), 8);
}

TEST(Plan, ReversedDestinationsAreTurnedForward) {
  const Selection s = *Selection::from_index({5}, "3:");
  const Plan plan = plan_scatter(s, strided({5}, {-4}), dense({2}), Widen::Yes);
  EXPECT_EQ(plan.dst_offset(), -16);
  EXPECT_EQ(plan.src_offset(), 4);
  EXPECT_THAT(plan.loops(), ElementsAre(Loop{5, 0, 1, 2, 4, -4}));
}

TEST(Plan, LoopsFollowTheDestinationsStrides) {
  const Plan plan = plan_copy(strided({2, 3}, {4, 8}), dense({2, 3}), Widen::Yes);
  EXPECT_THAT(plan.loops(), ElementsAre(Loop{3, 0, 1, 3, 8, 4}, Loop{2, 0, 1, 2, 4, 12}));
}

TEST(Plan, TransposedOnBothSidesIsOneItem) {
  const Plan plan = plan_copy(strided({2, 3}, {4, 8}), strided({2, 3}, {4, 8}), Widen::Yes);
  EXPECT_EQ(plan.item_size(), 24);
  EXPECT_TRUE(plan.loops().empty());
}

TEST(Plan, AxesOfOneElementAreDropped) { EXPECT_TRUE(scatter({1, 1, 1}, "0, :, ::-1").loops().empty()); }

TEST(Plan, EmptySelectionsAreOneRunOfZeros) {
  const Plan plan = scatter({4, 5, 6}, ":, 2:2, ::2");
  EXPECT_THAT(plan.loops(), ElementsAre(Loop{120, 0, 1, 0, 4, 0}));
}

TEST(Plan, EmptyTensorsHaveNoLoops) {
  constexpr std::int64_t kMax = std::numeric_limits<std::int64_t>::max();
  for (const std::vector<std::int64_t>& shape :
       {std::vector<std::int64_t>{0, 5}, {5, 0}, {0, kMax}, {0, kMax, kMax}, {3, 0, kMax, kMax}}) {
    const Plan plan = scatter(shape, "::-1, ::-1");
    EXPECT_TRUE(plan.is_empty());
    EXPECT_TRUE(plan.loops().empty());
    EXPECT_EQ(plan.dst_bytes(), 0);
    const Layout empty = contiguous_layout(*Shape::make(shape), 4);
    EXPECT_TRUE(plan_copy(empty, empty, Widen::Yes).is_empty());
  }
}

TEST(Plan, BroadcastSourcesHaveStrideZero) {
  const Plan plan = plan_copy(dense({3, 4}), strided({3, 4}, {0, 0}), Widen::Yes);
  EXPECT_THAT(plan.loops(), ElementsAre(Loop{12, 0, 1, 12, 4, 0}));
}

TEST(Plan, HasAFormForPeople) {
  EXPECT_THAT(to_string(scatter({5}, "::-2")), HasSubstr("take 3 from position 0 by 2, -4 bytes apart"));
}

}  // namespace
}  // namespace backslice
