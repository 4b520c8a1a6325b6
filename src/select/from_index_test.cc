#include <concepts>
#include <limits>

#include "testing.h"

namespace backslice {
namespace {

using namespace testing;

Result<Selection> try_at(Ints shape, std::string_view text) { return Selection::from_index(shape, text); }

TEST(FromIndex, IntegersDropAxesAndNoneAddsThem) {
  const Selection s = *try_at({4, 5, 6}, "1:3, None, -1, ...");
  EXPECT_THAT(Ints(s.result_shape()), ElementsAre(2, 1, 6));
  EXPECT_THAT(s.result_axes(), ElementsAre(0, -1, 2));
  EXPECT_EQ(s.axis(1), (Selection::Axis{4, 1, 1}));
  EXPECT_TRUE(s.is_dropped(1));
}

TEST(FromIndex, NegativeStepsWalkDown) {
  EXPECT_THAT(positions(*try_at({5}, "::-2")), ElementsAre(4, 2, 0));
  EXPECT_THAT(positions(*try_at({5}, "3:0:-1")), ElementsAre(3, 2, 1));
  EXPECT_THAT(positions(*try_at({5}, "-10::-1")), ElementsAre());
}

TEST(FromIndex, ExtremesAreClamped) {
  EXPECT_THAT(positions(*try_at({3}, "-99999999999999999999:99999999999999999999")), ElementsAre(0, 1, 2));
  EXPECT_THAT(positions(*try_at({3}, "::-99999999999999999999")), ElementsAre(2));
}

TEST(FromIndex, RefusesIntegersOutOfRange) {
  EXPECT_TRUE(is_error(try_at({4, 5}, ":, 5"), StatusCode::OutOfRange, "index 5", "axis 1 with size 5"));
  EXPECT_TRUE(is_error(try_at({4}, "-5"), StatusCode::OutOfRange, "index -5", "axis 0"));
}

TEST(FromIndex, RefusesTooManyIndicesAndTwoEllipses) {
  EXPECT_TRUE(is_error(try_at({4}, "1, 2"), StatusCode::OutOfRange, "too many indices", "1 axis", "2 were indexed"));
  EXPECT_TRUE(is_error(try_at({4}, "..., ..."), StatusCode::OutOfRange, "single ellipsis"));
}

TEST(FromIndex, RefusesStepZero) {
  EXPECT_TRUE(is_error(try_at({4}, "::0"), kInvalid, "step cannot be zero", "axis 0"));
}

TEST(FromIndex, RefusesResultsOfMoreThan32Axes) {
  EXPECT_TRUE(is_error(Selection::from_index({}, repeated(33, NewAxis{})), kInvalid, "33 axes"));
}

template <class T>
class IntegersOfIndex : public ::testing::Test {};
using AllIntegers =
    ::testing::Types<signed char, unsigned char, short, unsigned short, int, unsigned, long, unsigned long, long long,
                     unsigned long long, std::size_t, std::ptrdiff_t, std::int64_t, std::uint64_t>;
TYPED_TEST_SUITE(IntegersOfIndex, AllIntegers);

TYPED_TEST(IntegersOfIndex, AreOneItemInBraces) {
  const TypeParam n = 3, zero = 0, largest = std::numeric_limits<TypeParam>::max();
  const Selection third = at({5, 6}, "3");
  EXPECT_EQ(Selection::from_index({5, 6}, Index{n}).value(), third);
  EXPECT_EQ(Selection::from_index({5, 6}, {n}).value(), third);
  EXPECT_EQ(Selection::from_index({5, 6}, {n, zero}).value(), at({5, 6}, "3, 0"));
  EXPECT_EQ(Selection::from_index({5, 6}, Index{zero, n}).value(), at({5, 6}, "0, 3"));
  EXPECT_EQ(Selection::from_index({5, 6}, {SliceRange{zero, n}, NewAxis{}, n}).value(), at({5, 6}, "0:3, None, 3"));
  EXPECT_TRUE(is_error(Selection::from_index({5}, Index{largest}), StatusCode::OutOfRange, "axis 0 with size 5"));
  EXPECT_EQ(Selection::from_index({5}, Index{SliceRange{n, largest}}).value(), at({5}, "3:"));
  EXPECT_EQ(Selection::from_index({5}, Index{SliceRange{{}, {}, largest}}).value(), at({5}, "0:1"));
  const std::vector<TypeParam> list = {n, zero};
  EXPECT_EQ(Index(list.begin(), list.end()), (Index{n, zero}));
}

// Lists of a number of items, which braces must not make by accident, do not exist.
static_assert(!std::constructible_from<Index, std::size_t> && !std::constructible_from<Index, int>);
static_assert(!std::constructible_from<Index, std::size_t, IndexItem> && !std::constructible_from<Index, int, int>);
// No text, no mask, no fraction, no item without a value.
static_assert(!std::constructible_from<IndexItem, char> && !std::constructible_from<IndexItem, bool>);
static_assert(!std::constructible_from<IndexItem, double> && !std::default_initializable<IndexItem>);
static_assert(!std::constructible_from<IndexBound, char> && !std::constructible_from<IndexBound, bool>);
static_assert(!std::constructible_from<IndexBound, double>);
static_assert(!std::constructible_from<IndexItem, std::vector<bool>::reference>);
struct Fraction {
  operator float() const { return 1.5f; }
};
static_assert(!std::constructible_from<IndexItem, Fraction> && !std::constructible_from<IndexBound, Fraction>);

TEST(FromIndex, EnumeratorsAndConstantsAreIntegers) {
  enum Axis { kRows = 2 };
  EXPECT_EQ((Index{kRows, std::integral_constant<int, 4>()}), (Index{2, 4}));
  enum Position : std::size_t { kNowhere = std::numeric_limits<std::size_t>::max() };
  constexpr std::int64_t kLargest = std::numeric_limits<std::int64_t>::max();
  EXPECT_EQ((Index{kNowhere, std::integral_constant<std::size_t, kNowhere>()}), (Index{kLargest, kLargest}));
}

TEST(FromIndex, BoundsAreComparedAsOptionals) {
  const IndexBound none, three = 3;
  const std::optional<std::int64_t> no_integer, integer = 3;
  EXPECT_TRUE(none == no_integer && no_integer == none && none == std::nullopt && none == IndexBound());
  EXPECT_TRUE(three == integer && integer == three && three == 3 && three == std::size_t{3});
  EXPECT_TRUE(three != no_integer && none != integer && three != std::nullopt && none != 3 && three != 4);
}

TEST(FromIndex, TakesTextToo) {
  const Selection expected = Selection::from_index({4, 5}, Index{SliceRange{1, 3}, SliceRange{{}, {}, -2}}).value();
  const std::string text = "1:3, ::-2";
  EXPECT_EQ(Selection::from_index({4, 5}, "1:3, ::-2").value(), expected);
  EXPECT_EQ(Selection::from_index({4, 5}, text).value(), expected);
  EXPECT_EQ(Selection::from_index({4, 5}, std::string_view(text)).value(), expected);
  EXPECT_TRUE(is_error(Selection::from_index({4, 5}, "1:x"), kInvalid, "x"));
  EXPECT_TRUE(is_error(Selection::from_index({4, 5}, "7"), StatusCode::OutOfRange, "axis 0"));
}

TEST(FromIndex, BracesAreItemsNotText) {
  EXPECT_EQ(Selection::from_index({4, 5}, {}).value(), Selection::all(*Shape::make({4, 5})));
  EXPECT_EQ(Selection::from_index({4, 5}, {0, 2}).value(), Selection::from_index({4, 5}, "0, 2").value());
  EXPECT_EQ(Selection::from_index({4, 5}, {0}).value(), Selection::from_index({4, 5}, "0").value());
}

}  // namespace
}  // namespace backslice
