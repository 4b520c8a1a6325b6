#include "backslice/selection.h"

#include <sstream>

#include "testing.h"

namespace backslice {
namespace {

using namespace testing;

Result<Selection> make(Ints shape, std::vector<Selection::Axis> axes, Ints result_axes) {
  return Selection::make(Shape::make(shape).value(), axes, result_axes);
}

TEST(Selection, OfAWholeTensorTakesAnyShape) {
  EXPECT_EQ(Selection::all({4, 5}).value(), at({4, 5}, ":"));
  EXPECT_EQ(Selection::all(Shape::make({4, 5}).value()), at({4, 5}, ":"));
  const std::vector<std::int64_t> shape = {4, 5};
  EXPECT_EQ(Selection::all(shape).value(), at({4, 5}, ":"));
  EXPECT_TRUE(is_error(Selection::all({4, -5}), kInvalid, "shape[1]", "-5"));
  const Selection::Axis axes[] = {{0, 1, 4}, {0, 1, 5}};
  EXPECT_EQ(Selection::make({4, 5}, axes, {0, 1}).value(), at({4, 5}, ":"));
}

TEST(Selection, IsCanonical) {
  EXPECT_EQ(*make({5}, {{3, -7, 1}}, {0}), *make({5}, {{3, 1, 1}}, {0}));
  EXPECT_EQ(*make({5}, {{4, 9, 0}}, {0}), *make({5}, {{0, 1, 0}}, {0}));
  EXPECT_FALSE(*make({5}, {{3, 1, 1}}, {0}) == *make({5}, {{3, 1, 1}}, {}));
}

TEST(Selection, ChecksTheNormalForm) {
  EXPECT_TRUE(is_error(make({5}, {}, {0}), kInvalid, "axes has 0 entries"));
  EXPECT_TRUE(is_error(make({5}, {{0, 1, -1}}, {0}), kInvalid, "axis 0", "count -1"));
  EXPECT_TRUE(is_error(make({5}, {{5, 1, 1}}, {0}), kInvalid, "axis 0", "start 5", "[0,5)"));
  EXPECT_TRUE(is_error(make({5}, {{0, 0, 2}}, {0}), kInvalid, "axis 0", "step"));
  EXPECT_TRUE(is_error(make({5}, {{1, 2, 3}}, {0}), kInvalid, "3 indices from 1 by 2"));
  EXPECT_TRUE(is_error(make({5}, {{1, -1, 3}}, {0}), kInvalid, "leave [0,5)"));
  EXPECT_TRUE(is_error(make({5}, {{1, kMax, 2}}, {0}), kInvalid, "leave"));
  EXPECT_TRUE(is_error(make({5}, {{1, kMin, 2}}, {0}), kInvalid, "leave"));
  EXPECT_TRUE(is_error(make({5}, {{0, 1, 2}}, {}), kInvalid, "axis 0 is dropped", "not 2"));
  EXPECT_TRUE(is_error(make({5, 5}, {{0, 1, 1}, {0, 1, 5}}, {1, 0}), kInvalid, "ascending"));
  EXPECT_TRUE(is_error(make({5}, {{0, 1, 5}}, {1}), kInvalid, "ascending"));
  EXPECT_TRUE(is_error(make({}, {}, std::vector<std::int64_t>(33, -1)), kInvalid, "33 axes"));
}

TEST(Selection, SelectIsAViewOfTheSameMemory) {
  std::mt19937 random(3);
  for (int i = 0; i < 500; ++i) {
    const Selection s = random_selection(random, 4);
    const RandomTensor t = random_tensor(random, DType::Int32, s.shape());
    const View selected = select(s, t.view);
    EXPECT_EQ(selected.shape(), s.result_shape());
    for_each_index(s.result_shape(), [&](const std::vector<std::int64_t>& index) {
      EXPECT_EQ(address(selected, index), address(t.view, input_index(s, index)));
    });
  }
}

TEST(Selection, ExplainsItself) {
  const std::string text = Selection::from_index({4, 5}, "1, None, ::2").value().explain();
  EXPECT_THAT(text, HasSubstr("takes 3 of 20 elements: shape [4,5] -> [1,3]"));
  EXPECT_THAT(text, HasSubstr("axis 0 of 4: start 1, step 1, count 1, dropped"));
  EXPECT_THAT(text, HasSubstr("axis 1 of 5: start 0, step 2, count 3"));
  EXPECT_THAT(text, HasSubstr("result axis 0: new"));
}

TEST(Selection, PrintsAsItsIndexAndShape) {
  std::ostringstream out;
  out << Selection::from_index({4, 5}, "1:3, ::-2").value() << "; " << Selection::all(Shape());
  EXPECT_EQ(out.str(), "[1:3, 4::-2] of shape [4,5]; [] of shape []");
}

}  // namespace
}  // namespace backslice
