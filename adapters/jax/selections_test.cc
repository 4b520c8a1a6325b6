#include "selections.h"

#include <gmock/gmock.h>

namespace backslice::jax {
namespace {

using Numbers = std::vector<std::int64_t>;

TEST(ReadSelections, GivesEachSliceOfTheOneShape) {
  const auto read = read_selections(Numbers{2, 2, 4, 5,                     // two slices of shape [4,5]
                                            1, 1, 2, 4, -2, 3, 2, 0, 1,     // [1:3, ::-2]
                                            0, 1, 4, 3, 1,  1, 2, 0, -1});  // [:, 3, None]
  ASSERT_TRUE(read) << read.status();
  EXPECT_THAT(*read, testing::ElementsAre(*Selection::from_index({4, 5}, "1:3, ::-2"),
                                          *Selection::from_index({4, 5}, ":, 3, None")));
}

TEST(ReadSelections, RefusesListsThatAreNone) {
  const Numbers whole{1, 1, 4, 0, 1, 4, 1, 0};
  ASSERT_TRUE(read_selections(whole));
  for (std::size_t size = 0; size < whole.size(); ++size) {
    EXPECT_FALSE(read_selections(std::span(whole).first(size))) << size;
  }
  Numbers longer = whole;
  longer.push_back(0);
  EXPECT_FALSE(read_selections(longer));
  EXPECT_FALSE(read_selections(Numbers{1, -1}));
  EXPECT_FALSE(read_selections(Numbers{1, 1, 4, 3, 1, 4, 1, 0})) << "beyond the end of the axis";
}

}  // namespace
}  // namespace backslice::jax
