// The rules of TensorFlow's Slice, one named test each.
#include "testing.h"

namespace backslice {
namespace {

using namespace testing;

void expect_window(Ints shape, Ints begin, Ints size, std::string_view index) {
  const auto selection = Selection::from_begin_size(shape, begin, size);
  ASSERT_TRUE(selection.ok()) << selection.status().to_string();
  EXPECT_EQ(*selection, *Selection::from_index(shape, index)) << selection->explain();
}

void expect_refused(Ints begin, Ints size, const std::string& message) {
  EXPECT_TRUE(is_error(Selection::from_begin_size({4, 5}, begin, size), kInvalid, message));
}

TEST(FromBeginSize, TakesSizeElementsFromBegin) {
  expect_window({4, 5}, {1, 2}, {2, 3}, "1:3, 2:5");
  expect_window({}, {}, {}, "...");
}

TEST(FromBeginSize, MinusOneIsTheRest) {
  expect_window({4, 5}, {1, 0}, {-1, -1}, "1:, :");
  expect_window({0, 3}, {0, 3}, {-1, -1}, "0:0, 3:");
}

TEST(FromBeginSize, MayTakeNothingAtTheEnd) { expect_window({4, 5}, {4, 5}, {0, 0}, "4:, 5:"); }

TEST(FromBeginSize, NothingCountsFromTheEndOrIsClamped) {
  const std::int64_t huge = std::int64_t{1} << 62;
  expect_refused({-1, 0}, {1, 1}, "Expected begin[0] in [0, 4], but got -1");
  expect_refused({0, 6}, {-1, -1}, "Expected begin[1] in [0, 5], but got 6");
  expect_refused({1, 0}, {4, 1}, "Expected size[0] in [0, 3], or -1 for the rest, but got 4");
  expect_refused({1, 0}, {1, -2}, "Expected size[1] in [0, 5], or -1 for the rest, but got -2");
  expect_refused({huge, 0}, {huge, 1}, "Expected begin[0] in [0, 4], but got");
  expect_refused({1, 0}, {std::numeric_limits<std::int64_t>::max(), 1}, "Expected size[0] in [0, 3]");
}

TEST(FromBeginSize, EveryAxisHasAnEntry) {
  expect_refused({1}, {1}, "Expected begin and size to have 2 entries, one per axis");
  expect_refused({1, 0}, {3}, "one per axis, but begin has 2 and size has 1");
}

TEST(FromBeginSize, BadShapesAreReportedFirst) {
  EXPECT_TRUE(is_error(Selection::from_begin_size({-4}, {9}, {9}), kInvalid, "shape[0]: dimension -4"));
}

}  // namespace
}  // namespace backslice
