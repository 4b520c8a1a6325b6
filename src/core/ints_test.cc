#include "backslice/ints.h"

#include <array>
#include <sstream>

#include "testing.h"

namespace backslice {
namespace {

using namespace testing;

std::vector<std::int64_t> taken(Ints list) { return {list.begin(), list.end()}; }

TEST(Ints, ComeFromWhateverHoldsInt64) {
  const std::vector<std::int64_t> expected = {4, 5};
  const std::array<std::int64_t, 2> array = {4, 5};
  const std::int64_t c_array[] = {4, 5};
  std::vector<std::int64_t> vector = {4, 5};
  const std::initializer_list<std::int64_t> list = {4, 5};
  EXPECT_EQ(taken({4, 5}), expected);
  EXPECT_EQ(taken(list), expected);
  EXPECT_EQ(taken(array), expected);
  EXPECT_EQ(taken(c_array), expected);
  EXPECT_EQ(taken(vector), expected);
  EXPECT_EQ(taken(std::span(vector)), expected);                        // of elements that can be written
  EXPECT_EQ(taken(std::span<const std::int64_t, 2>(array)), expected);  // of a fixed extent
  EXPECT_EQ(taken(*Shape::make({4, 5})), expected);
  EXPECT_EQ(taken(Dims(array)), expected);
  EXPECT_TRUE(taken({}).empty());
  EXPECT_TRUE(taken(std::array<std::int64_t, 0>()).empty());
}

TEST(Ints, TakeAnyIntegersIsTakenInBraces) {
  const std::size_t rows = 4;
  const int columns = 5;
  enum { kDepth = 6 };
  const std::vector<std::int64_t> expected = {4, 5, 6, 7, -1};
  EXPECT_EQ(taken({rows, columns, kDepth, std::uint8_t{7}, std::integral_constant<long long, -1>{}}), expected);
  const std::uint64_t huge = std::numeric_limits<std::uint64_t>::max();
  EXPECT_EQ(taken({huge, huge >> 1, std::size_t{1} << 63}), std::vector<std::int64_t>(3, INT64_MAX));
}

template <class Number>
concept IsTakenInBraces = requires(Number number) { taken({number, number}); };

TEST(Ints, AreNotMadeFromOtherNumbers) {
  static_assert(IsTakenInBraces<std::uint16_t> && !IsTakenInBraces<double> && !IsTakenInBraces<float*> &&
                !IsTakenInBraces<std::vector<int>>);
  static_assert(!std::is_convertible_v<std::vector<std::size_t>, Ints>);

  static_assert(!std::is_convertible_v<std::vector<int>, Ints>);
  static_assert(!std::is_convertible_v<std::array<double, 2>, Ints>);
  static_assert(!std::is_convertible_v<const char*, Ints>);
}

TEST(Ints, PrintAsAList) {
  std::ostringstream out;
  out << Ints{4, -1} << *Shape::make({2, 3}) << Dims(Ints{8}) << Shape() << *PartialShape::make({2, -1});
  EXPECT_EQ(out.str(), "[4,-1][2,3][8][][2,?]");
}

}  // namespace
}  // namespace backslice
