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
  for (const char* item : {"a", "1.5", "1:2:3:4", "1:b", "--1", "+-1", "1 2", "[1]", ".."}) {
    EXPECT_TRUE(is_error(parse_index(std::string("0, ") + item), kInvalid, "item 1", std::string("\"") + item + "\""))
        << item;
  }
  EXPECT_TRUE(is_error(parse_index("1,,2"), kInvalid, "item 1"));
  EXPECT_TRUE(is_error(parse_index(","), kInvalid, "item 0"));
}

}  // namespace
}  // namespace backslice
