#include "backslice/index.h"
#include "testing.h"

namespace backslice {
namespace {

using namespace testing;

TEST(IndexText, ReadsPythonsNotation) {
  const Index expected = {SliceRange{1, 3, {}}, SliceRange{{}, {}, 2}, EllipsisItem{}, NewAxis{}, std::int64_t{-1}};
  EXPECT_EQ(*parse_index("1:3, ::2, ..., None, -1"), expected);
  EXPECT_EQ(*parse_index(" 1 :3,::2 ,\t...,np.newaxis,-1,"), expected);
  EXPECT_EQ(*parse_index("None:+3"), (Index{SliceRange{{}, 3, {}}}));
  EXPECT_EQ(*parse_index("  "), Index{});
}

TEST(IndexText, WritesWhatItReads) {
  for (const char* text : {"", "1:3, ::2, ..., None, -1", ":", "::-1", "5:", ":5", "1:2:3"}) {
    EXPECT_EQ(to_string(*parse_index(text)), text);
  }
}

TEST(IndexText, IntegersPastInt64Saturate) {
  EXPECT_EQ(*parse_index("-99999999999999999999"), (Index{std::numeric_limits<std::int64_t>::min()}));
  EXPECT_EQ(*parse_index("99999999999999999999"), (Index{std::numeric_limits<std::int64_t>::max()}));
}

TEST(IndexText, RefusesWhatIsNotAnIndexAndNamesTheItem) {
  for (const char* item : {"a", "1.5", "1:2:3:4", "1:b", "--1", "+-1", "1 2", "1]", ".."}) {
    EXPECT_TRUE(is_error(parse_index(std::string("0, ") + item), kInvalid, "item 1", std::string("\"") + item + "\""))
        << item;
  }
  EXPECT_TRUE(is_error(parse_index("1,,2"), kInvalid, "item 1"));
  EXPECT_TRUE(is_error(parse_index(","), kInvalid, "item 0"));
}

TEST(IndexText, ANameWithBracketsSaysTheSame) {
  for (const char* text : {"x[1:3, ::2]", " x [1:3, ::2] ", "model.layers_2[1:3, ::2]", "np.s_[ 1:3,::2, ]"}) {
    EXPECT_EQ(*parse_index(text), *parse_index("1:3, ::2")) << text;
  }
  EXPECT_EQ(*parse_index("x[]"), Index{});
  for (const char* text : {"x[1:3", "1:3]", "3[1:3]", "x.[", "a b[1]", "x[1][2]", "x[1]y", "]["}) {
    EXPECT_TRUE(is_error(parse_index(text), kInvalid, "item 0")) << text;
  }
}

TEST(IndexText, ListsAreRefusedWithTheReasonAndTheAlternative) {
  struct Case {
    const char *text, *item, *names, *instead;
  };
  for (const Case& c :
       {Case{"[0, 2]", "item 0, \"[0, 2]\"", "x[[0, 2]]", "write 0, 2 for x[0, 2]"},
        Case{"x[[0, 2]]", "item 0, \"[0, 2]\"", "x[[0, 2]]", "write 0, 2 for x[0, 2]"},
        Case{"[1:3]", "item 0, \"[1:3]\"", "x[[1:3]]", "write 1:3 for x[1:3]"},
        Case{":, [4, -1], 3", "item 1, \"[4, -1]\"", "x[:, [4, -1], 3]", "write :, 4, -1, 3 for x[:, 4, -1, 3]"},
        Case{"[0, 2", "item 0, \"[0, 2\"", "x[[0, 2]", "write 0, 2 for x[0, 2]"},
        Case{"[]", "item 0, \"[]\"", "x[[]]", "write ... for x[...]"}}) {
    EXPECT_TRUE(is_error(parse_index(c.text), kInvalid, c.item, c.names, "is not a slice", c.instead)) << c.text;
  }
}

}  // namespace
}  // namespace backslice
