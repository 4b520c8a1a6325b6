#include "backslice/shape.h"

#include <array>
#include <deque>
#include <set>

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

template <class T>
class ShapeFrom : public ::testing::Test {};
using OtherLists = ::testing::Types<std::vector<int>, std::vector<std::size_t>, std::array<short, 2>,
                                    std::vector<long long>, std::deque<std::uint32_t>, std::set<unsigned char>>;
TYPED_TEST_SUITE(ShapeFrom, OtherLists);

TYPED_TEST(ShapeFrom, ListsOfOtherIntegers) {
  EXPECT_EQ(Shape::make(TypeParam{4, 5}).value(), Shape::make({4, 5}).value());
}

TEST(Shape, ChecksThatOtherIntegersFit) {
  const std::vector<std::size_t> huge = {2, std::size_t{1} << 63};
  const Status refused = Shape::make(huge, "extents").status();
  EXPECT_TRUE(is_error(refused, kInvalid, "extents[1] does not fit int64"));
  EXPECT_EQ(refused.argument(), "extents");
  EXPECT_EQ(refused.position(), 1);
  EXPECT_TRUE(is_error(Shape::make(std::vector<int>{2, -4}), kInvalid, "shape[1]", "-4", "must be >= 0"));
  EXPECT_TRUE(is_error(Shape::make(std::vector<int>(40, 1)), kInvalid, "40 entries", "at most 32"));
  const int extents[] = {2, 3};
  EXPECT_EQ(Shape::make(extents).value().elements(), 6);
}

TEST(Dims, AreMadeOfAnyIntegers) {
  EXPECT_THAT(Ints(Dims::make(std::vector<int>{6, -2, 0}).value()), ElementsAre(6, -2, 0));
  EXPECT_THAT(Ints(Dims::make(std::vector<std::size_t>{6, 2}).value()), ElementsAre(6, 2));
  EXPECT_TRUE(is_error(Dims::make(std::vector<std::size_t>{6, ~std::size_t{0}}), kInvalid, "strides[1] does not fit"));
  EXPECT_TRUE(is_error(Dims::make(std::vector<int>(33, 1), "steps"), kInvalid, "steps has 33 entries"));
  std::vector<float> memory(24);
  const std::vector<int> strides = {1, 6};
  const View columns = View::strided(memory.data(), {3, 4}, Dims::make(strides).value()).value();
  EXPECT_THAT(Ints(columns.layout.strides), ElementsAre(4, 24));
}

}  // namespace
}  // namespace backslice
