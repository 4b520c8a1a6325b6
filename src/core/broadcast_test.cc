#include "backslice/broadcast.h"

#include "backslice/slice.h"
#include "testing.h"

namespace backslice {
namespace {

using namespace testing;

Shape shape_of(Ints dims) { return Shape::make(dims).value(); }

TEST(Broadcast, TakesShapesInBraces) {
  const std::vector<float> row = {1, 2};
  EXPECT_EQ(broadcast({3, 2}, view_of(row, {2})).value().shape(), Shape::make({3, 2}).value());
  EXPECT_TRUE(is_error(broadcast({-3, 2}, view_of(row, {2})), kInvalid, "shape[0]", "-3"));
}

TEST(Broadcast, MatchesAxesFromTheLastAndRepeatsThoseOfExtentOne) {
  const float data[6] = {};
  const ConstView view = ConstView::contiguous(data, DType::Float32, {2, 1, 3}).value();
  const ConstView wide = broadcast(shape_of({5, 2, 4, 3}), view).value();
  EXPECT_EQ(wide.shape(), shape_of({5, 2, 4, 3}));
  EXPECT_THAT(Ints(wide.layout.strides), ElementsAre(0, 12, 0, 4));
  EXPECT_EQ(wide.data, view.data);
}

TEST(Broadcast, ScalarsFillEveryShape) {
  const float one = 1;
  const ConstView view = ConstView::contiguous(&one, DType::Float32, {}).value();
  EXPECT_THAT(Ints(broadcast(shape_of({2, 2}), view).value().layout.strides), ElementsAre(0, 0));
  EXPECT_EQ(broadcast(shape_of({}), view).value().layout, view.layout);
}

TEST(Broadcast, ExtentOneBecomesNothingToo) {
  const float one = 1;
  const ConstView view = ConstView::contiguous(&one, DType::Float32, {1}).value();
  const ConstView none = broadcast(shape_of({3, 0}), view).value();
  EXPECT_TRUE(is_valid(none.layout, none.dtype));
  EXPECT_EQ(none.elements(), 0);
}

TEST(Broadcast, OtherExtentsAndHigherRanksAreRefused) {
  const float data[6] = {};
  const ConstView view = ConstView::contiguous(data, DType::Float32, {2, 3}).value();
  EXPECT_TRUE(is_error(broadcast(shape_of({3}), view, "dy"), kInvalid,
                       "dy of shape [2,3] does not broadcast to [3]: rank 2, expected at most 1"));
  EXPECT_TRUE(is_error(broadcast(shape_of({4, 5, 3}), view, "dy"), kInvalid,
                       "dy of shape [2,3] does not broadcast to [4,5,3]: axis 0 has 2, expected 1 or 5"));
  EXPECT_TRUE(is_error(broadcast(shape_of({0, 3}), view), kInvalid, "axis 0 has 2, expected 1 or 0"));
}

TEST(Broadcast, GradientsTakeTheView) {
  const float row[3] = {1, 2, 3};
  const Selection rows = Selection::from_index({4, 3}, "1:3").value();
  const ConstView dy = ConstView::contiguous(row, DType::Float32, {3}).value();
  const Tensor dx = slice_grad(rows, *broadcast(rows.result_shape(), dy)).value();
  EXPECT_THAT(elements<float>(dx), ElementsAre(0, 0, 0, 1, 2, 3, 1, 2, 3, 0, 0, 0));
}

}  // namespace
}  // namespace backslice
