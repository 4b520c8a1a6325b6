// The rules of TensorFlow's StridedSlice, one named test each.
#include "testing.h"

namespace backslice {
namespace {

using namespace testing;

Result<Selection> tf(Ints shape, TfSlice slice) { return Selection::from_tf(shape, slice); }

// Every test compares the specification with an equal NumPy index.
void expect_tf(Ints shape, const TfSlice& slice, std::string_view index) {
  const auto selection = tf(shape, slice);
  ASSERT_TRUE(selection.ok()) << selection.status().to_string();
  EXPECT_EQ(*selection, *Selection::from_index(shape, index)) << selection->explain();
}

TEST(FromTf, FewerEntriesThanAxesImplyAnEllipsisAtTheEnd) {
  expect_tf({4, 5, 6}, {.begin = {1}, .end = {3}, .strides = {1}}, "1:3");
  expect_tf({4, 5}, {}, "...");
}

TEST(FromTf, EllipsisCoversTheAxesLeftOver) {
  expect_tf({4, 5, 6}, {.begin = {0, 2}, .end = {0, 4}, .strides = {1, 1}, .ellipsis_mask = 1}, "..., 2:4");
  expect_tf({4, 5}, {.begin = {1, 0, 2}, .end = {3, 0, 4}, .strides = {1, 1, 1}, .ellipsis_mask = 2}, "1:3, ..., 2:4");
}

TEST(FromTf, NewAxesAfterTheEllipsisAreNotCounted) {
  expect_tf({4, 5, 6},
            {.begin = {0, 0, 2}, .end = {0, 0, 4}, .strides = {1, 1, 1}, .ellipsis_mask = 1, .new_axis_mask = 2},
            "..., None, 2:4");
}

TEST(FromTf, EllipsisBitPastTheLengthIsIgnored) {
  expect_tf({4}, {.begin = {1}, .end = {3}, .strides = {1}, .ellipsis_mask = 4}, "1:3");
  expect_tf({4}, {.begin = {1}, .end = {3}, .strides = {1}, .ellipsis_mask = std::numeric_limits<int>::min()}, "1:3");
}

TEST(FromTf, OtherMasksIgnoreBitsPastTheLength) {
  expect_tf({4, 5},
            {.begin = {1},
             .end = {3},
             .strides = {1},
             .begin_mask = ~1,
             .end_mask = ~1,
             .new_axis_mask = ~1,
             .shrink_axis_mask = ~1},
            "1:3");
}

TEST(FromTf, MinusOneIsAMaskOfAllPositions) {
  expect_tf({4, 5}, {.begin = {1, 1}, .end = {2, 2}, .strides = {1, -1}, .begin_mask = -1, .end_mask = -1}, ":, ::-1");
}

TEST(FromTf, NewAxisBeatsShrinkAndEllipsisBeatsBoth) {
  expect_tf({4}, {.begin = {2}, .end = {3}, .strides = {1}, .new_axis_mask = 1, .shrink_axis_mask = 1}, "None");
  expect_tf({4},
            {.begin = {2}, .end = {3}, .strides = {1}, .ellipsis_mask = 1, .new_axis_mask = 1, .shrink_axis_mask = 1},
            "...");
}

TEST(FromTf, BoundsCountFromTheEndThenClamp) {
  expect_tf({5}, {.begin = {-3}, .end = {-1}, .strides = {1}}, "2:4");
  expect_tf({5}, {.begin = {-99}, .end = {99}, .strides = {2}}, "::2");
  expect_tf({5}, {.begin = {99}, .end = {-99}, .strides = {-2}}, "::-2");
  expect_tf({5}, {.begin = {-10}, .end = {0}, .strides = {-1}, .end_mask = 1}, "0:0");
  expect_tf({5}, {.begin = {4}, .end = {kMax}, .strides = {-1}}, "0:0");
}

TEST(FromTf, MaskedBoundsAreTheFarEnd) {
  expect_tf({5}, {.begin = {3}, .end = {1}, .strides = {-1}, .begin_mask = 1, .end_mask = 1}, "::-1");
}

TEST(FromTf, ShrinkIgnoresEndAndMasks) {
  expect_tf({4, 5}, {.begin = {-1}, .end = {0}, .strides = {2}, .begin_mask = 1, .end_mask = 1, .shrink_axis_mask = 1},
            "3");
}

TEST(FromTf, ExtremeIntegersAreAccepted) {
  expect_tf({5}, {.begin = {kMin}, .end = {kMax}, .strides = {kMax}}, "0:1");
  expect_tf({5}, {.begin = {kMax}, .end = {kMin}, .strides = {kMin}}, "4:3:-1");
  expect_tf({5}, {.begin = {kMax}, .end = {kMin}, .strides = {1}}, "0:0");
}

TEST(FromTf, CountsNeverFallBelowZero) {
  expect_tf({5}, {.begin = {3}, .end = {1}, .strides = {1}}, "0:0");
  expect_tf({0}, {.begin = {0}, .end = {0}, .strides = {-1}, .begin_mask = 1, .end_mask = 1}, ":");
}

TEST(FromTf, WorksAtEveryRankUpTo32) {
  const std::vector<std::int64_t> shape(32, 2);
  const auto s = tf(shape, {.begin = {0}, .end = {1}, .strides = {1}});
  EXPECT_EQ(s->result_shape().elements(), std::int64_t{1} << 31);
  EXPECT_TRUE(is_error(tf(std::vector<std::int64_t>(33, 2), {}), kInvalid, "33 axes", "32"));
  EXPECT_TRUE(is_error(tf(shape, {.begin = {0}, .end = {0}, .strides = {1}, .new_axis_mask = 1}), kInvalid, "33 axes"));
}

TEST(FromTf, RefusesStrideZero) {
  EXPECT_TRUE(is_error(tf({4, 4}, {.begin = {0, 0}, .end = {1, 1}, .strides = {1, 0}}), kInvalid,
                       "strides[1] must be non-zero", "axis 1"));
  expect_tf({4}, {.begin = {0, 0}, .end = {1, 1}, .strides = {0, 1}, .new_axis_mask = 1}, "None, 0:1");
}

TEST(FromTf, RefusesShrinkOutOfBounds) {
  const TfSlice at_4{.begin = {4}, .end = {5}, .strides = {1}, .shrink_axis_mask = 1};
  EXPECT_TRUE(is_error(tf({4}, at_4), kInvalid, "slice index 4 of dimension 0 out of bounds", "begin[0]", "[-4,4)"));
  EXPECT_TRUE(is_error(tf({4}, {.begin = {-5}, .end = {0}, .strides = {1}, .shrink_axis_mask = 1}), kInvalid, "-5"));
  EXPECT_TRUE(is_error(tf({4}, {.begin = {kMin}, .end = {0}, .strides = {1}, .shrink_axis_mask = 1}), kInvalid));
  EXPECT_TRUE(is_error(tf({0}, {.begin = {0}, .end = {0}, .strides = {1}, .shrink_axis_mask = 1}), kInvalid));
}

TEST(FromTf, RefusesShrinkWithNegativeStride) {
  EXPECT_TRUE(is_error(tf({4}, {.begin = {1}, .end = {0}, .strides = {-1}, .shrink_axis_mask = 1}), kInvalid,
                       "only stride 1 allowed on non-range indexing", "strides[0] is -1"));
}

TEST(FromTf, RefusesMoreEntriesThanAxes) {
  EXPECT_TRUE(is_error(tf({4}, {.begin = {0, 0}, .end = {1, 1}, .strides = {1, 1}}), kInvalid,
                       "Index out of range using input dim 1; input has only 1 dims"));
}

TEST(FromTf, RefusesUnequalLengthsAnd32Entries) {
  EXPECT_TRUE(is_error(tf({4}, {.begin = {0, 0}, .end = {1}, .strides = {1}}), kInvalid, "begin has 2", "end has 1"));
  const std::vector<std::int64_t> zeros(32, 0), ones(32, 1);
  EXPECT_TRUE(is_error(tf(ones, {.begin = zeros, .end = ones, .strides = ones}), kInvalid, "fewer than 32", "32"));
  const std::vector<std::int64_t> zeros31(31, 0), ones31(31, 1);
  EXPECT_TRUE(tf(ones, {.begin = zeros31, .end = ones31, .strides = ones31}).ok());
}

TEST(FromTf, RefusesTwoEllipses) {
  EXPECT_TRUE(is_error(tf({4}, {.ellipsis_mask = 6}), kInvalid, "Multiple ellipses", "6"));
  EXPECT_TRUE(is_error(tf({4}, {.ellipsis_mask = -1}), kInvalid, "Multiple ellipses"));
}

TEST(FromTf, RefusesBadShapes) {
  EXPECT_TRUE(is_error(tf({-4}, {}), kInvalid, "shape[0]", "dimension -4 must be >= 0"));
  const std::int64_t huge = std::int64_t{1} << 40;
  EXPECT_TRUE(is_error(tf({huge, huge, 0}, {}), kInvalid, "more than 2**63 - 1 elements"));
  EXPECT_TRUE(tf({0, huge, huge}, {}).ok());
}

}  // namespace
}  // namespace backslice
