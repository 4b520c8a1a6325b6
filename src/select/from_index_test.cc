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
  EXPECT_TRUE(is_error(Selection::from_index({}, Index(33, NewAxis{})), kInvalid, "33 axes"));
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
