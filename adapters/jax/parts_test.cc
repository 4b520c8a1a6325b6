#include "parts.h"

#include <gmock/gmock.h>

#include <limits>

#include "core/boundary.h"

namespace backslice::jax {
namespace {

using Numbers = std::vector<std::int64_t>;

class GradientsOf : public testing::Test {
 protected:
  // The first element of each dy, in the order of the slices.
  Result<std::vector<float>> firsts(const Numbers& parts) {
    return without_throwing([&]() -> Result<std::vector<float>> {
      std::vector<float> found;
      for (const SliceGradient& gradient : gradients(parts)) {
        found.push_back(*reinterpret_cast<const float*>(gradient.dy.data));
      }
      return found;
    });
  }

  std::vector<SliceGradient> gradients(const Numbers& parts) { return gradients_of(slices_, arguments_, parts); }

  bool are_refused(const Numbers& parts) { return !firsts(parts).ok(); }

  std::vector<Selection> slices_{*Selection::from_index({4, 4}, "0:1, :2"), *Selection::from_index({4, 4}, "1:3, 1:3"),
                                 *Selection::from_index({4, 4}, "3:, 2:")};
  std::vector<float> a_{0, 1, 2, 3, 4, 5}, b_{10, 11};
  std::vector<ConstView> arguments_{*ConstView::of(a_, {6}), *ConstView::of(b_, {2})};
};

TEST_F(GradientsOf, TakesThemOneAfterTheOther) { EXPECT_THAT(*firsts({2, 1}), testing::ElementsAre(0, 2, 10)); }

TEST_F(GradientsOf, TakesThemFromWhereTheyLie) {
  EXPECT_THAT(*firsts({-2, 2, 4, 1, 1, 1, 3, -2, -1, -1, 0, 1, 0, -1}), testing::ElementsAre(11, 3, 4));
  const Numbers parts{-2, 1, 3, -2, -1, 2, 4, 9, 1, 1};
  const auto second = gradients(parts)[1].dy;
  EXPECT_EQ(second.layout.strides[0], -8);
  EXPECT_EQ(second.layout.strides[1], -4);
  EXPECT_THAT(*firsts(parts), testing::ElementsAre(10, 3, 4)) << "the stride of an axis of extent 1 means nothing";
}

TEST_F(GradientsOf, RefusesListsThatAreNone) {
  const Numbers whole{-2, 1, 3, -2, -1, 2, 4, 2, 1, 1};
  ASSERT_FALSE(are_refused(whole));
  for (std::size_t size = 0; size < whole.size(); ++size) {
    EXPECT_TRUE(are_refused({whole.begin(), whole.begin() + static_cast<std::ptrdiff_t>(size)})) << size;
  }
  EXPECT_TRUE(are_refused({2, 1, 0})) << "too many numbers";
  EXPECT_TRUE(are_refused({3, 0})) << "more than the argument holds";
  EXPECT_TRUE(are_refused({1, 2})) << "fewer than the argument holds";
  EXPECT_TRUE(are_refused({std::numeric_limits<std::int64_t>::min(), 1}));
  EXPECT_TRUE(are_refused({std::numeric_limits<std::int64_t>::max(), 1}));
}

TEST_F(GradientsOf, RefusesDysOutsideTheirArgument) {
  EXPECT_TRUE(are_refused({-2, 1, 2, -2, -1, 2, 4, 2, 1, 1})) << "before it";
  EXPECT_TRUE(are_refused({-2, 1, 3, 2, 1, 2, 4, 2, 1, 1})) << "behind it";
  EXPECT_TRUE(are_refused({-2, 1, 0, std::int64_t{1} << 62, 1, 2, 4, 2, 1, 1}));
  EXPECT_TRUE(are_refused({-2, 1, 3, std::numeric_limits<std::int64_t>::min(), -1, 2, 4, 2, 1, 1}));
}

TEST_F(GradientsOf, RefusesSlicesWithoutADyOrWithTwo) {
  EXPECT_TRUE(are_refused({-1, 1, 3, -2, -1, 1}));
  EXPECT_TRUE(are_refused({-2, 1, 3, -2, -1, 1, 3, -2, -1, 1}));
  EXPECT_TRUE(are_refused({-2, 0, 0, 1, 1, 3, 0, 1, 1, 1})) << "no such slice";
}

}  // namespace
}  // namespace backslice::jax
