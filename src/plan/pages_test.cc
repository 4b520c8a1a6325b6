#include "plan/pages.h"

#include <unistd.h>

#include "testing.h"

namespace backslice {
namespace {

using namespace testing;

constexpr std::int64_t kSmall = 4 << 10, kLarge = 64 << 10;

std::int64_t pages_of_rows(const char* rows, std::int64_t page_bytes) {
  const Selection s = *Selection::from_index({64, 16 << 10}, rows);  // rows of 16 KiB
  return pages_touched(s, contiguous_layout(s.shape(), 1), page_bytes);
}

TEST(Pages, AreAsLargeAsTheSystems) { EXPECT_EQ(page_bytes(), sysconf(_SC_PAGESIZE)); }

TEST(Pages, AFewBytesTouchFewOfAnySize) {
  EXPECT_LE(pages_of_rows("3, 5:10", kSmall), 2);
  EXPECT_LE(pages_of_rows("3, 5:10", kLarge), 2);
}

TEST(Pages, RowsTouchAsManyAsTheySpan) {
  EXPECT_GE(pages_of_rows("8:16", kSmall), 8 * 4);
  EXPECT_LE(pages_of_rows("8:16", kSmall), 8 * 4 + 2);
  EXPECT_GE(pages_of_rows("8:16", kLarge), 2);
  EXPECT_LE(pages_of_rows("8:16", kLarge), 2 + 2);
}

TEST(Pages, LargeOnesLeaveNoGapBetweenRowsThatSmallOnesDo) {
  EXPECT_LE(pages_of_rows("::2, :10", kSmall), 32 * 2);  // one row in two, a page or two of each
  EXPECT_LE(pages_of_rows("::2, :10", kLarge), 16 + 2);  // all pages, of four rows each
  EXPECT_GE(pages_of_rows("::2, :10", kLarge), 16);
}

TEST(Pages, NothingTouchesNone) { EXPECT_EQ(pages_of_rows("2:2", kLarge), 0); }

}  // namespace
}  // namespace backslice
