// Converts a Selection to each dialect and back.
#include <limits>

#include "testing.h"

namespace backslice {
namespace {

using namespace testing;

// Random indexes of about as many entries as TensorFlow allows: dropped, whole, sliced and new axes.
Selection long_selection(std::mt19937& random) {
  std::vector<std::int64_t> shape;
  Index index;
  const int entries = 28 + static_cast<int>(random() % 12);
  for (int i = 0; i < entries && shape.size() < kMaxRank; ++i) {
    if (!index.empty() && random() % 2 == 0) {  // runs
      index.push_back(IndexItem(index.back()));
    } else {
      switch (random() % 4) {
        case 0: index.push_back(std::int64_t{0}); break;
        case 1: index.push_back(NewAxis{}); break;
        case 2: index.push_back(SliceRange{1, std::nullopt, std::nullopt}); break;
        default: index.push_back(SliceRange{});
      }
    }
    if (!std::holds_alternative<NewAxis>(index.back())) shape.push_back(2);
  }
  auto selection = Selection::from_index(shape, index);
  return selection.ok() ? *selection : long_selection(random);  // more than 32 axes in the result
}

// ONNX Runtime reads the greatest int32 as an end for "all the way".
TEST(Convert, AStopAtTheGreatestInt32IsNotTheEnd) {
  constexpr std::int64_t kStop = std::numeric_limits<std::int32_t>::max();
  for (const char* text : {"0:2147483647", "5:2147483647:3", "2147483650:2147483647:-1", "2147483646:2147483647"}) {
    for (std::int64_t extent : {kStop, kStop + 1, std::int64_t{1} << 40}) {
      const Selection s = at({extent}, text);
      EXPECT_EQ(*Selection::from_onnx(s.shape(), s.to_onnx().slice), s) << text << " of " << extent;
    }
  }
}

TEST(Convert, RoundTripsThroughEveryDialect) {
  std::mt19937 random(4);
  for (int i = 0; i < 5000; ++i) {
    const Selection s = random_selection(random, 5);
    EXPECT_EQ(*Selection::from_index(s.shape(), s.to_index()), s) << s.explain();
    EXPECT_EQ(*Selection::from_index(s.shape(), *parse_index(to_string(s.to_index()))), s) << s.explain();
    EXPECT_EQ(*Selection::from_tf(s.shape(), *s.to_tf()), s) << s.explain();
    // ONNX's Slice keeps every axis and selects the same elements in the same order.
    EXPECT_EQ(positions(*Selection::from_onnx(s.shape(), s.to_onnx().slice)), positions(s)) << s.explain();
  }
}

TEST(Convert, OnnxNamesTheAxesToSqueezeAndUnsqueeze) {
  const OnnxNodes nodes = at({4, 5, 6}, "None, 1, ::-1, None").to_onnx();
  EXPECT_THAT(nodes.squeeze, ElementsAre(0));
  EXPECT_THAT(nodes.unsqueeze, ElementsAre(0, 2));
  EXPECT_THAT(*nodes.slice.axes, ElementsAre(0, 1));
  EXPECT_THAT(nodes.slice.ends, ElementsAre(2, std::numeric_limits<std::int64_t>::min()));
}

TEST(Convert, HugeExtentsDoNotOverflow) {
  const std::int64_t n = std::numeric_limits<std::int64_t>::max();
  const std::int64_t step = std::int64_t{1} << 62;
  const Selection s = *Selection::from_index({n}, {SliceRange{step - 2, n, step}});
  EXPECT_EQ(s.axis(0), (Selection::Axis{step - 2, step, 2}));
  EXPECT_EQ(*Selection::from_index({n}, s.to_index()), s);
  EXPECT_EQ(*Selection::from_tf({n}, *s.to_tf()), s);
}

TEST(Convert, TensorFlowGetsAnEllipsisWhereEntriesRunOut) {
  const std::vector<std::int64_t> shape(32, 2);
  const Selection s = at(shape, "1:, ..., 0");
  const TfSlice slice = *s.to_tf();
  EXPECT_EQ(slice.begin.size(), 3u);
  EXPECT_EQ(slice.ellipsis_mask, 2);
  EXPECT_EQ(*Selection::from_tf(shape, slice), s);
}

TEST(Convert, AnEllipsisAndWholeAxesAtTheEndAreNotBothLeftOut) {
  const std::vector<std::int64_t> shape{2, 3, 4, 5};
  // Two whole axes, an index, 29 new axes, a whole axis: 32 entries with the ellipsis. Without the last one it is
  // another slice.
  Index index{SliceRange{}, SliceRange{}, std::int64_t{0}};
  for (int i = 0; i < 29; ++i) index.push_back(NewAxis{});
  index.push_back(SliceRange{});
  EXPECT_TRUE(
      is_error(Selection::from_index(shape, index).value().to_tf(), StatusCode::Unimplemented, "fewer than 32", "32"));
  std::vector<IndexItem> shorter(index.begin(), index.end());
  shorter.erase(shorter.begin() + 3);  // one new axis fewer fits
  const Selection s = *Selection::from_index(shape, shorter);
  EXPECT_EQ(*Selection::from_tf(shape, *s.to_tf()), s);
}

TEST(Convert, LongSelectionsRoundTripOrAreUnimplemented) {
  std::mt19937 random(7);
  int refused = 0;
  for (int i = 0; i < 5000; ++i) {
    const Selection s = long_selection(random);
    const auto slice = s.to_tf();
    refused += !slice.ok();
    if (slice.ok()) {
      EXPECT_EQ(*Selection::from_tf(s.shape(), *slice), s) << s.explain();
    } else {
      EXPECT_EQ(slice.status().code(), StatusCode::Unimplemented);
    }
  }
  EXPECT_GT(refused, 100);
  EXPECT_LT(refused, 4900);
}

TEST(Convert, WhatTensorFlowCannotSayIsUnimplemented) {
  const std::vector<std::int64_t> shape(32, 2);
  EXPECT_TRUE(is_error(Selection::from_index(shape, repeated(32, 0)).value().to_tf(), StatusCode::Unimplemented,
                       "fewer than 32", "32"));
}

}  // namespace
}  // namespace backslice
