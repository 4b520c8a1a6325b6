#include "testing.h"

namespace backslice {
namespace {

using namespace testing;

TEST(Restrict, SaysWhatFallsInsideInBothCoordinates) {
  const auto part = at({10, 8}, "::-3, 2").restrict(std::vector<Range>{{2, 7}, {1, 5}});
  ASSERT_TRUE(part->has_value());
  // 9, 6, 3, 0 within [2, 7) leave 6 and 3, the second and third element of dy
  EXPECT_EQ((*part)->selection, at({5, 4}, "4::-3, 1"));
  EXPECT_EQ(to_string((*part)->dy.to_index()), "1:3");
}

TEST(Restrict, DisjointBoxesGiveNothing) {
  EXPECT_FALSE(at({10}, "::3").restrict(std::vector<Range>{{1, 3}}).value().has_value());
  EXPECT_FALSE(at({10}, "4:4").restrict(std::vector<Range>{{0, 10}}).value().has_value());
  EXPECT_FALSE(at({10}, ":").restrict(std::vector<Range>{{5, 5}}).value().has_value());
}

TEST(Restrict, RankZeroIsItself) {
  const Selection scalar = at({}, "None");
  EXPECT_EQ(scalar.restrict({}).value()->selection, scalar);
}

TEST(Restrict, RefusesBoxesThatDoNotFit) {
  const Selection s = at({10}, ":");
  EXPECT_TRUE(is_error(s.restrict({}), kInvalid, "box has 0 ranges"));
  for (Range bad : {Range{-1, 3}, Range{3, 11}, Range{4, 3}}) {
    EXPECT_TRUE(is_error(s.restrict(std::vector<Range>{bad}), kInvalid, "box[0]", std::to_string(bad.lo),
                         std::to_string(bad.hi), "(0, 10)"));
  }
}

// A grid of boxes tiles the input. Every selected element is in exactly one box, with the right position in dy.
TEST(Restrict, TilesAddUpToTheWhole) {
  std::mt19937 random(5);
  const auto pick = [&](std::int64_t n) { return std::uniform_int_distribution<std::int64_t>(0, n - 1)(random); };
  for (int round = 0; round < 500; ++round) {
    const Selection s = random_selection(random, 3);
    const auto expected = positions(s);
    std::vector<std::int64_t> found(expected.size(), -1);
    std::vector<std::int64_t> cuts;
    for (std::int64_t extent : s.shape()) cuts.push_back(pick(extent + 1));
    for_each_index(std::vector<std::int64_t>(cuts.size(), 2), [&](const std::vector<std::int64_t>& side) {
      std::vector<Range> box;
      for (std::size_t i = 0; i < cuts.size(); ++i) {
        box.push_back(side[i] == 0 ? Range{0, cuts[i]} : Range{cuts[i], s.shape()[static_cast<int>(i)]});
      }
      const auto part = s.restrict(box).value();
      if (!part) return;
      const auto dy = positions(part->dy);
      std::size_t next = 0;
      for_each_index(part->selection.result_shape(), [&](const std::vector<std::int64_t>& index) {
        const auto local = input_index(part->selection, index);
        std::int64_t flat = 0;
        for (int i = 0; i < s.shape().rank(); ++i) flat = flat * s.shape()[i] + local[i] + box[i].lo;
        EXPECT_EQ(found[dy[next]], -1);
        found[dy[next++]] = flat;
      });
    });
    EXPECT_EQ(found, expected) << s.explain();
  }
}

}  // namespace
}  // namespace backslice
