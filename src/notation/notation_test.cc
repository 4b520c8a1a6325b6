#include "backslice/notation.h"

#include "testing.h"

namespace backslice {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

constexpr Dialect kAll[] = {Dialect::Python, Dialect::Tf, Dialect::Onnx};

std::vector<std::int64_t> integers(std::string_view text) { return parse_integers(text, "list").value().values; }

TEST(ParseIntegers, ReadsWhatPythonReads) {
  EXPECT_THAT(integers("1, -2,3"), ElementsAre(1, -2, 3));
  EXPECT_THAT(integers(" [1 2\t3 ] "), ElementsAre(1, 2, 3));
  EXPECT_THAT(integers("(0x10, 0b11, 0o7, 1_000, +5, 00,)"), ElementsAre(16, 3, 7, 1000, 5, 0));
  EXPECT_THAT(integers("INT32_MAX int_min"), ElementsAre(2147483647, std::numeric_limits<std::int64_t>::min()));
  EXPECT_THAT(integers("-9223372036854775808"), ElementsAre(std::numeric_limits<std::int64_t>::min()));
  EXPECT_TRUE(integers("").empty() && integers("[]").empty() && integers("  ").empty());
}

TEST(ParseIntegers, MarksWhatIsNone) {
  for (const std::string_view bad : {"one", "0x", "1__0", "_1", "1_", "010", "1.5", "--1", "é"}) {
    const std::string text = "4, " + std::string(bad);
    const Status error = parse_integers(text, "shape").status();
    EXPECT_EQ(error.span(), (TextSpan{3, text.size()})) << text;
    EXPECT_EQ(error.position(), 1);
    EXPECT_EQ(error.message(), "shape: '" + std::string(bad) + "' is not an integer");
  }
  EXPECT_EQ(parse_integers("9223372036854775808", "end").status().message(),
            "end[0] is 9223372036854775808, which does not fit int64");
  EXPECT_FALSE(parse_integers("4,,", "shape").ok());
  EXPECT_FALSE(parse_integers(",", "shape").ok());
}

TEST(ParseSlice, ReadsEachNotation) {
  const auto expected = Selection::from_index({4, 6}, "1:3, ::2").value();
  const std::pair<Dialect, std::string_view> texts[] = {
      {Dialect::Python, "x[1:3, ::2]"},
      {Dialect::Tf, "begin=1,0 end=3,6 strides=1,2"},
      {Dialect::Tf, " begin = [1, 0]  end=(3, 0) strides = 1,2 end_mask=0b10"},
      {Dialect::Onnx, "starts=1,0 ends=3,INT_MAX steps=1,2"},
      {Dialect::Onnx, "ends=100,3 starts=0,1 axes=-1,0 steps=2,1"},
  };
  for (const auto& [dialect, text] : texts) {
    const auto slice = parse_slice(dialect, text);
    ASSERT_TRUE(slice.ok()) << text << ": " << slice.status();
    EXPECT_EQ(slice->to_selection({4, 6}).value(), expected) << text;
  }
  EXPECT_TRUE(parse_slice(Dialect::Onnx, "starts= ends=").ok()) << "lists may be empty";
}

TEST(ParseSlice, ReadsAMillionBlanksInNoTime) {
  const std::string blanks(1'000'000, ' ');
  const auto read = parse_slice(Dialect::Onnx, "starts=[1," + blanks + "2] ends =" + blanks + "[3, 4]");
  EXPECT_TRUE(read.ok()) << read.status().to_string();
}

TEST(ParseSlice, MarksTheArgumentThatIsWrong) {
  const auto blamed = [](Dialect dialect, std::string_view text) {
    const Status error =
        parse_slice(dialect, text).and_then([](const SliceText& s) { return s.to_selection({4, 6}); }).status();
    return std::string(error.span() ? text.substr(error.span()->begin, error.span()->end - error.span()->begin) : "");
  };
  EXPECT_EQ(blamed(Dialect::Tf, "begin=1,0 end=3,6 strides=1,0"), "0");
  EXPECT_EQ(blamed(Dialect::Tf, "begin=[1, one] end=3,6"), "one");
  EXPECT_EQ(blamed(Dialect::Tf, "begn=1 end=3"), "begn=1");
  EXPECT_EQ(blamed(Dialect::Tf, "begin=1,0 end=3"), "end=3");
  EXPECT_EQ(blamed(Dialect::Tf, "begin=1,0 end=3,3 ellipsis_mask=3"), "3");
  EXPECT_EQ(blamed(Dialect::Tf, "begin=1 end=3 begin_mask=99999999999"), "99999999999");
  EXPECT_EQ(blamed(Dialect::Onnx, "starts=1, 0 ends=3,6 axes=0,  5"), "5");
  EXPECT_EQ(blamed(Dialect::Onnx, "starts=1 ends=3 starts=2"), "starts=2");
  EXPECT_EQ(blamed(Dialect::Python, "1:3, ::0"), "::0");
}

TEST(Code, IsReadyToPaste) {
  const Selection s = Selection::from_index({4, 6, 2}, "None, 2, ::-2").value();
  EXPECT_EQ(index_text(s), "None, 2, ::-2");
  EXPECT_EQ(*forward_code(s, Dialect::Python), "y = x[None, 2, ::-2]");
  EXPECT_EQ(*gradient_code(s, Dialect::Python), "dx = bs.slice_grad(dy, (4, 6, 2), np.s_[None, 2, ::-2])");
  EXPECT_THAT(*forward_code(s, Dialect::Tf), HasSubstr("StridedSlice(input=x, begin=[0, 2, 5], end=[0, 3, 0]"));
  EXPECT_THAT(*forward_code(s, Dialect::Onnx), HasSubstr("make_node(\"Unsqueeze\", [\"y1\", \"unsqueeze\"], [\"y\"])"));
  EXPECT_EQ(obstacles(s, Dialect::Onnx).size(), 2u);
  EXPECT_TRUE(obstacles(s, Dialect::Tf).empty());
  EXPECT_EQ(index_text(Selection::from_index({4, 6}, "0:4, 0:6").value()), ":");
  EXPECT_EQ(index_text(Selection::from_index({}, "...").value()), "...");
}

TEST(Disagreements, NameTheAxis) {
  const auto found = disagreements({5, 5}, parse_slice(Dialect::Python, ":, -10::-1").value().arguments, kAll);
  ASSERT_TRUE(found.ok());
  EXPECT_THAT(*found, ElementsAre("axis 1: -10::-1 takes [] in NumPy, but the same numbers would take [0] in ONNX"));
  EXPECT_TRUE(disagreements({5}, parse_slice(Dialect::Tf, "begin=1 end=3").value().arguments, kAll).value().empty());
  EXPECT_FALSE(disagreements({5}, parse_slice(Dialect::Python, "7").value().arguments, kAll).ok());
}

}  // namespace
}  // namespace backslice
