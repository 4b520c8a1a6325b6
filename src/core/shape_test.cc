#include "backslice/shape.h"

#include "testing.h"

namespace backslice {
namespace {

using namespace testing;

constexpr std::int64_t kHuge = std::int64_t{1} << 40;

TEST(Shape, CountsElements) {
  EXPECT_EQ(Shape().elements(), 1);
  EXPECT_EQ(Shape::make({4, 5}).value().elements(), 20);
  EXPECT_EQ(Shape::make({1, 46342, 46341}).value().elements(), std::int64_t{46342} * 46341);  // past int32
}

TEST(Shape, MultipliesFromTheLeft) {
  EXPECT_TRUE(is_error(Shape::make({kHuge, kHuge, 0}), kInvalid, "more than 2**63 - 1 elements", "axis 1"));
  EXPECT_EQ(Shape::make({0, kHuge, kHuge}).value().elements(), 0);
}

TEST(Shape, RefusesNegativeDimensions) {
  EXPECT_TRUE(is_error(Shape::make({2, -4}, "shape"), kInvalid, "shape[1]", "-4", "must be >= 0"));
}

TEST(Shape, HasUpTo32Axes) {
  EXPECT_EQ(Shape::make(std::vector<std::int64_t>(32, 1)).value().rank(), 32);
  EXPECT_TRUE(is_error(Shape::make(std::vector<std::int64_t>(33, 1)), kInvalid, "33 axes", "at most 32"));
}

}  // namespace
}  // namespace backslice
