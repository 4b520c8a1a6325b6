// Pictures of sparse tensors and of ragged rows.
#include <algorithm>
#include <map>
#include <optional>

#include "backslice/picture.h"
#include "core/errors.h"
#include "picture/grid.h"

namespace backslice {
namespace {

// Returns the cell of an entry, as the positions of its blocks. Along an axis, all blocks but the last have one size.
std::optional<std::vector<std::size_t>> place_of(const PictureEntry& entry, const Shape& shape, const Grid& grid) {
  const std::size_t padding = grid.axes.size() - entry.index.size();
  std::vector<std::size_t> place(grid.axes.size(), 0);
  for (std::size_t i = 0; i < entry.index.size(); ++i) {
    const std::int64_t index = entry.index[i];
    if (index < 0 || index >= shape[static_cast<int>(i)]) return std::nullopt;
    place[padding + i] = static_cast<std::size_t>(index / grid.axes[padding + i][0].hi);
  }
  return place;
}

using Splits = std::vector<std::int64_t>;

// Names a row: "2.0.1" is row 1 of row 0 of row 2.
std::string row_label(std::span<const Splits> outer, std::int64_t row) {
  std::string path;
  for (std::size_t i = outer.size(); i > 0; --i) {
    const Splits& list = outer[i - 1];
    const auto parent = std::upper_bound(list.begin(), list.end(), row) - list.begin() - 1;
    path = join(".", row - list[static_cast<std::size_t>(parent)]) + path;
    row = parent;
  }
  return std::to_string(row) + path;
}

std::vector<Cell> row_cells(std::int64_t first, std::int64_t length, std::int64_t block) {
  std::vector<Cell> cells;
  const std::int64_t count = length == 0 ? 0 : (length - 1) / block + 1;
  for (std::int64_t i = 0; i < count; ++i) cells.push_back({CellKind::Taken, "", 1, first + i * block});
  if (block > 1 && !cells.empty()) cells[0].text = std::to_string(length);
  return cells;
}

}  // namespace

Picture picture_of_entries(const Shape& shape, std::span<const PictureEntry> entries, const PictureLimits& limits) {
  const Grid grid(Selection::all(shape), limits);
  Picture picture;
  picture.are_elements = grid.are_elements();
  std::map<std::vector<std::size_t>, Cell> cells;
  for (std::size_t i = 0; i < entries.size(); ++i) {
    const PictureEntry& entry = entries[i];
    const auto place = place_of(entry, shape, grid);
    if (!place) continue;
    Cell& cell = cells[*place];
    if (!picture.are_elements && cell.kind == CellKind::Taken) continue;  // one selected entry colours the whole block
    cell = {entry.is_taken ? CellKind::Taken : CellKind::Left, picture.are_elements ? entry.text : "", 1,
            static_cast<std::int64_t>(i)};
  }
  picture.panels = panels_of(grid, limits.is_dense, [&](const std::vector<std::size_t>& place) {
    const auto found = cells.find(place);
    return found == cells.end() ? Cell() : found->second;
  });
  if (!picture.are_elements) {
    picture.notes.push_back(join("Each cell is a block of ", grid.block_text(), "; it is coloured where an entry is."));
  }
  return picture;
}

Picture picture_of_rows(std::span<const Splits> nested_row_splits, const PictureLimits& limits) {
  const Splits& inner = nested_row_splits.back();
  const auto rows = static_cast<std::int64_t>(inner.size()) - 1, shown = std::min(rows, limits.rows);
  const auto length = [&](std::int64_t row) {
    return inner[static_cast<std::size_t>(row) + 1] - inner[static_cast<std::size_t>(row)];
  };
  std::int64_t longest = 0;
  for (std::int64_t row = 0; row < shown; ++row) longest = std::max(longest, length(row));
  const std::int64_t block = longest == 0 ? 1 : (longest - 1) / std::max<std::int64_t>(limits.columns, 1) + 1;
  Panel panel;
  for (std::int64_t row = 0; row < shown; ++row) {
    panel.rows.push_back(row_cells(inner[static_cast<std::size_t>(row)], length(row), block));
    panel.row_labels.push_back(row_label(nested_row_splits.first(nested_row_splits.size() - 1), row));
  }
  Picture picture;
  picture.panels.push_back(std::move(panel));
  picture.are_elements = block == 1;
  if (block > 1) picture.notes.push_back(join("Each cell is ", block, " values; the number is the length of the row."));
  if (shown < rows) picture.notes.push_back(join("The first ", shown, " of ", rows, " rows."));
  return picture;
}

}  // namespace backslice
