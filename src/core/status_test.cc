#include "backslice/status.h"

#include <sstream>

#include "backslice/selection.h"
#include "core/errors.h"
#include "testing.h"

namespace backslice {
namespace {

TEST(Status, DefaultIsSuccess) {
  EXPECT_TRUE(Status().ok());
  EXPECT_EQ(Status().to_string(), "Ok");
}

TEST(Status, CarriesCodeAndMessage) {
  const Status s = out_of_range("index ", 7, " of ", Ints{4, 5});
  EXPECT_FALSE(s.ok());
  EXPECT_EQ(s.code(), StatusCode::OutOfRange);
  EXPECT_EQ(s.to_string(), "OutOfRange: index 7 of [4,5]");
}

TEST(Status, DTypeErrorsAreInvalidArgumentsThatSaySo) {
  EXPECT_TRUE(dtype_error("x").is_about_dtype());
  EXPECT_EQ(dtype_error("x").code(), StatusCode::InvalidArgument);
  EXPECT_FALSE(invalid_argument("x").is_about_dtype());
}

TEST(Status, PrintsAsItsText) {
  std::ostringstream out;
  out << invalid_argument("step 0") << "; " << Status() << "; " << StatusCode::OutOfRange;
  EXPECT_EQ(out.str(), "InvalidArgument: step 0; Ok; OutOfRange");
}

TEST(Status, SaysWhichArgumentIsToBlame) {
  const Status nobody = invalid_argument("x");
  EXPECT_EQ(nobody.argument(), "");
  EXPECT_FALSE(nobody.position() || nobody.span());
  const Status s = invalid_argument("strides[1] must be non-zero").at("strides", 1, TextSpan{3, 4});
  EXPECT_EQ(s.argument(), "strides");
  EXPECT_EQ(s.position(), 1);
  EXPECT_EQ(s.span(), (TextSpan{3, 4}));
  EXPECT_EQ(s.message(), "strides[1] must be non-zero");
  const Status copied = s;
  EXPECT_EQ(copied.argument(), "strides");
}

TEST(Status, DialectsSayWhichEntryIsToBlame) {
  const Status tf = Selection::from_tf({4, 6}, {.begin = {0, 1}, .end = {2, 3}, .strides = {1, 0}}).status();
  EXPECT_EQ(tf.argument(), "strides");
  EXPECT_EQ(tf.position(), 1);
  const Status onnx = Selection::from_onnx({4, 6}, {.starts = {0, 0}, .ends = {1, 1}, .axes = {{0, 7}}}).status();
  EXPECT_EQ(onnx.argument(), "axes");
  EXPECT_EQ(onnx.position(), 1);
  const Status shape = Selection::from_index({4, -6}, ":").status();
  EXPECT_EQ(shape.argument(), "shape");
  EXPECT_EQ(shape.position(), 1);
}

TEST(Status, IndicesSayWhereInTheTextTheyAreWrong) {
  const auto span = [](std::string_view text) { return Selection::from_index({4, 6}, text).status().span(); };
  EXPECT_EQ(span("1:3, 9"), (TextSpan{5, 6}));
  EXPECT_EQ(span("x[1:3, ::0 ]"), (TextSpan{7, 10}));
  EXPECT_EQ(span("1, one"), (TextSpan{3, 6}));
  EXPECT_EQ(span("1, , 2"), (TextSpan{3, 4}));
  EXPECT_EQ(span("..., 1, ..."), (TextSpan{8, 11}));
  EXPECT_EQ(span("1, None, 2, 3"), (TextSpan{12, 13}));
  EXPECT_EQ(span("0, [0, 2]"), (TextSpan{3, 9}));
}

TEST(Marked, PutsCaretsUnderThePart) {
  EXPECT_EQ(marked("1:3, 9", {5, 6}), "1:3, 9\n     ^");
  EXPECT_EQ(marked("1:3, a:b", {5, 8}), "1:3, a:b\n     ^^^");
  EXPECT_EQ(marked("é, ü", {4, 6}), "é, ü\n   ^") << "counted in characters";
  EXPECT_EQ(marked("a\tb\nc", {4, 5}), "a b c\n    ^") << "on one line";
  EXPECT_EQ(marked("", {0, 0}), "\n^");
}

TEST(Marked, CutsLongTextsAroundThePart) {
  const std::string long_text = std::string(500, ' ') + "here" + std::string(500, ' ');
  const std::string shown = marked(long_text, {500, 504});
  const std::size_t line = shown.find('\n');
  EXPECT_LT(line, 90u);
  EXPECT_EQ(shown.find("here"), shown.find('^') - line - 1);
  EXPECT_EQ(marked(std::string(1000, 'x'), {0, 1000}).size(), 72 + 3 + 1 + 72u);
}

TEST(WithoutThrowing, TurnsBadAllocIntoResourceExhausted) {
  const Status s = without_throwing([]() -> Status { throw std::bad_alloc(); });
  EXPECT_EQ(s.code(), StatusCode::ResourceExhausted);
}

}  // namespace
}  // namespace backslice
