// The rules of ONNX Slice as ONNX Runtime implements them, one named test each.
#include "testing.h"

namespace backslice {
namespace {

using namespace testing;

constexpr std::int64_t kMax32 = std::numeric_limits<std::int32_t>::max();

Result<Selection> onnx(Ints shape, OnnxSlice slice) { return Selection::from_onnx(shape, slice); }

void expect_onnx(Ints shape, const OnnxSlice& slice, std::string_view index) {
  const auto selection = onnx(shape, slice);
  ASSERT_TRUE(selection.ok()) << selection.status().to_string();
  EXPECT_EQ(*selection, *Selection::from_index(shape, index)) << selection->explain();
}

TEST(FromOnnx, OmittedAxesAreTheFirstOnes) {
  expect_onnx({4, 5, 6}, {.starts = {1, 2}, .ends = {3, 4}}, "1:3, 2:4");
  expect_onnx({4, 5}, {}, "...");
}

TEST(FromOnnx, AxesComeInAnyOrderAndCountFromTheEnd) {
  expect_onnx({4, 5, 6}, {.starts = {1, 2}, .ends = {3, 4}, .axes = {{-1, 0}}}, "2:4, :, 1:3");
}

TEST(FromOnnx, StartBeforeTheBeginningIsTheBeginningAlsoForNegativeSteps) {
  expect_onnx({5}, {.starts = {-10}, .ends = {kMin}, .steps = {{-1}}}, "0:1");
}

TEST(FromOnnx, GreatestIntegersMeanAllTheWay) {
  for (std::int64_t end : {kMax, kMax32}) {
    expect_onnx({5}, {.starts = {4}, .ends = {end}, .steps = {{-1}}}, "::-1");
    expect_onnx({5}, {.starts = {1}, .ends = {end}}, "1:");
  }
  expect_onnx({5}, {.starts = {4}, .ends = {kMax - 1}, .steps = {{-1}}}, "0:0");
}

TEST(FromOnnx, StepsAreClampedToTheExtent) {
  expect_onnx({5}, {.starts = {1}, .ends = {5}, .steps = {{kMax}}}, "1:2");
  expect_onnx({5}, {.starts = {3}, .ends = {kMin}, .steps = {{kMin}}}, "3:4");
}

TEST(FromOnnx, EmptyAxesGiveNothing) { expect_onnx({0, 4}, {.starts = {-3}, .ends = {7}, .steps = {{-2}}}, ":"); }

TEST(FromOnnx, RefusesStepZeroAlsoOnEmptyAxes) {
  EXPECT_TRUE(is_error(onnx({5}, {.starts = {0}, .ends = {1}, .steps = {{0}}}), kInvalid, "steps[0]", "non-zero"));
  EXPECT_TRUE(is_error(onnx({0}, {.starts = {0}, .ends = {1}, .steps = {{0}}}), kInvalid, "steps[0]"));
}

TEST(FromOnnx, RefusesAxesOutOfRange) {
  for (std::int64_t axis : {2l, -3l, long(kMax), long(kMin)}) {
    EXPECT_TRUE(is_error(onnx({4, 5}, {.starts = {0}, .ends = {1}, .axes = {{axis}}}), kInvalid, "axes[0]",
                         std::to_string(axis), "[-2,2)"));
  }
  EXPECT_TRUE(is_error(onnx({4}, {.starts = {0, 0}, .ends = {1, 1}}), kInvalid,
                       "starts has 2 entries, but shape [4] has 1 axis"));
  EXPECT_TRUE(
      is_error(onnx({}, {.starts = {0}, .ends = {1}}), kInvalid, "starts has 1 entry, but shape [] has 0 axes"));
}

TEST(FromOnnx, RefusesRepeatedAxesAlsoByAlias) {
  EXPECT_TRUE(is_error(onnx({4, 5}, {.starts = {0, 0}, .ends = {1, 1}, .axes = {{1, -1}}}), kInvalid, "axes[1] is -1",
                       "axis 1 is given twice"));
}

TEST(FromOnnx, RefusesLengthsThatDisagree) {
  EXPECT_TRUE(is_error(onnx({4}, {.starts = {0}, .ends = {}}), kInvalid, "ends has 0 entries, starts has 1"));
  const std::vector<std::int64_t> none;  // {{}} is ambiguous from GCC 13 on
  EXPECT_TRUE(is_error(onnx({4}, {.starts = {0}, .ends = {1}, .axes = none}), kInvalid, "axes has 0"));
  EXPECT_TRUE(is_error(onnx({4}, {.starts = {0}, .ends = {1}, .steps = {{1, 1}}}), kInvalid, "steps has 2"));
}

}  // namespace
}  // namespace backslice
