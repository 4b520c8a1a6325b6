#include "backslice/picture.h"

#include <limits>

#include "testing.h"

namespace backslice {
namespace {

using testing::at;

using testing::ElementsAre;
using testing::HasSubstr;
using ::testing::Not;

constexpr std::int64_t kHuge = std::numeric_limits<std::int64_t>::max();

std::vector<std::string> texts(const Panel& panel) {
  std::vector<std::string> found;
  for (const auto& row : panel.rows) {
    for (const Cell& cell : row) found.push_back(cell.text);
  }
  return found;
}

Shape shape_of(Ints dims) { return Shape::make(dims).value(); }

TEST(CutAxis, CountsWhatBlocksTake) {
  const auto blocks = cut_axis(10, {8, -3, 3}, 3);  // takes 8, 5, 2
  ASSERT_EQ(blocks.size(), 3u);
  EXPECT_EQ(blocks[0].hi, 4);
  EXPECT_THAT((std::vector{blocks[0].taken, blocks[1].taken, blocks[2].taken}), ElementsAre(1, 1, 1));
  EXPECT_THAT((std::vector{blocks[0].position, blocks[1].position, blocks[2].position}), ElementsAre(2, 1, 0));
}

TEST(CutAxis, MakesAtLeastOneBlock) { EXPECT_EQ(cut_axis(9, {0, 1, 9}, 0).size(), 1u); }

TEST(CutAxis, TakesTheLongestAxis) {
  for (const std::int64_t most : {std::int64_t{1}, std::int64_t{2}, std::int64_t{24}}) {
    const auto blocks = cut_axis(kHuge, {0, 1, kHuge}, most);
    EXPECT_LE(static_cast<std::int64_t>(blocks.size()), most);
    EXPECT_EQ(blocks.back().hi, kHuge);
    std::int64_t taken = 0;
    for (const AxisBlock& block : blocks) taken += block.taken;
    EXPECT_EQ(taken, kHuge);
  }
}

TEST(Pictures, NumberWhatIsTaken) {
  const Picture picture = picture_of(at({2, 3}, "::-1, 1:"));
  EXPECT_EQ(picture.title, "x[::-1, 1:] of shape [2, 3] gives shape [2, 2]");
  EXPECT_THAT(texts(picture.panels[0]), ElementsAre("", "2", "3", "", "0", "1"));
}

TEST(Pictures, OfManySlicesCountThem) {
  const Selection slices[] = {at({2, 3}, "0"), at({2, 3}, ":, 1"), at({2, 3}, "..., 1:")};
  const Picture picture = picture_of_many(slices[0].shape(), slices);
  EXPECT_THAT(texts(picture.panels[0]), ElementsAre("1", "3", "2", "", "2", "1"));
  EXPECT_EQ(picture.panels[0].rows[0][1].kind, CellKind::Often);
}

TEST(Pictures, AreAsLargeAsTheirLimits) {
  const Picture picture = picture_of(at({1 << 20, 1 << 20, 1 << 20}, "5, ::3"), {.rows = 8, .columns = 8, .panels = 2});
  ASSERT_LE(picture.panels.size(), 2u);
  for (const Panel& panel : picture.panels) EXPECT_LE(panel.rows.size() * panel.rows[0].size(), 64u);
}

TEST(Pictures, OfRowsHaveOneCellPerValue) {
  const std::vector<std::int64_t> splits[] = {{0, 2, 3}, {0, 2, 2, 5}};
  const Picture picture = picture_of_rows(splits);
  EXPECT_THAT(picture.panels[0].row_labels, ElementsAre("0.0", "0.1", "1.0"));
  EXPECT_EQ(picture.panels[0].rows[1].size(), 0u);
  EXPECT_EQ(picture.panels[0].rows[2][0].position, 2);
}

TEST(Pictures, OfRowsAreAsWideAsTheirLimits) {
  constexpr std::int64_t kMost = std::numeric_limits<std::int64_t>::max();
  const std::vector<std::vector<std::int64_t>> splits = {{0, kMost}};
  EXPECT_EQ(picture_of_rows(splits, {.columns = 24}).panels[0].rows[0].size(), 24u);
  EXPECT_EQ(picture_of_rows(splits, {.columns = 0}).panels[0].rows[0].size(), 1u);
}

TEST(Pictures, OfEntriesLeaveOutThoseOutside) {
  const PictureEntry entries[] = {{{0, 1}, true, "7"}, {{5, 0}, true, "8"}, {{-1, 0}, true, "9"}, {{1, 0}, false, "6"}};
  const Panel panel = picture_of_entries(shape_of({2, 2}), entries).panels[0];
  EXPECT_THAT(texts(panel), ElementsAre("", "7", "6", ""));
  EXPECT_EQ(panel.rows[1][0].kind, CellKind::Left);
  EXPECT_TRUE(picture_of_entries(shape_of({0, 4}), entries).panels[0].rows.empty());
}

TEST(Pictures, OfEntriesHaveAPanelPerSlab) {
  const PictureEntry entries[] = {{{1, 0, 1}, true, "7"}, {{0, 1, 0}, false, "8"}};
  const Picture picture = picture_of_entries(shape_of({2, 2, 2}), entries);
  ASSERT_EQ(picture.panels.size(), 2u);
  EXPECT_EQ(picture.panels[1].title, "x[1, :, :]");
  EXPECT_THAT(texts(picture.panels[0]), ElementsAre("", "", "8", ""));
  EXPECT_THAT(texts(picture.panels[1]), ElementsAre("", "7", "", ""));
  EXPECT_THAT(texts(picture_of_entries(shape_of({3}), {{{{2}, true, "5"}}}).panels[0]), ElementsAre("", "", "5"));
  EXPECT_THAT(texts(picture_of_entries(shape_of({}), {{{{}, true, "5"}}}).panels[0]), ElementsAre("5"));
}

TEST(Pictures, OfEntriesInHugeShapesAreBlocks) {
  const PictureEntry entries[] = {{{kHuge - 1, 0}, true, "7"}, {{kHuge - 2, 0}, false, "8"}};
  const Picture picture = picture_of_entries(shape_of({kHuge, 1}), entries, {.rows = 4, .columns = 4});
  EXPECT_FALSE(picture.are_elements);
  const Cell& last = picture.panels[0].rows.back()[0];
  EXPECT_EQ(last.kind, CellKind::Taken);
  EXPECT_EQ(last.position, 0);
}

TEST(Svg, EscapesWhatItShows) {
  Picture picture{.title = "<script>&\"\x01", .panels = {}, .notes = {"a<b"}};
  const std::string drawn = svg(picture);
  EXPECT_THAT(drawn, HasSubstr("&lt;script&gt;&amp;&quot;?"));
  EXPECT_THAT(drawn, Not(HasSubstr("<script")));
  EXPECT_THAT(drawn, HasSubstr("a&lt;b"));
}

}  // namespace
}  // namespace backslice
