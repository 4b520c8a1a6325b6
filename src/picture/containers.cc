// Pictures of sparse matrices and of ragged rows.
#include <algorithm>

#include "backslice/picture.h"
#include "core/errors.h"

namespace backslice {
namespace {

std::vector<std::string> labels(const std::vector<AxisBlock>& axis) {
  std::vector<std::string> found;
  for (const AxisBlock& block : axis) {
    found.push_back(block.hi == block.lo + 1 ? std::to_string(block.lo) : join(block.lo, ":", block.hi));
  }
  return found;
}

// Which block an index is in; they are all of one size but the last.
std::size_t block_of(const std::vector<AxisBlock>& axis, std::int64_t index) {
  return static_cast<std::size_t>(index / axis[0].hi);
}

bool is_inside(std::int64_t index, std::int64_t extent) { return index >= 0 && index < extent; }

using Splits = std::vector<std::int64_t>;

// "2.0.1": row 1 of row 0 of row 2.
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
  for (std::int64_t at = 0; at < length; at += block) cells.push_back({CellKind::Taken, "", 1, first + at});
  if (block > 1 && !cells.empty()) cells[0].text = std::to_string(length);
  return cells;
}

}  // namespace

Panel panel_of_entries(std::int64_t rows, std::int64_t columns, std::span<const PictureEntry> entries,
                       const PictureLimits& limits) {
  const auto row_blocks = cut_axis(rows, {0, 1, rows}, limits.rows);
  const auto column_blocks = cut_axis(columns, {0, 1, columns}, limits.columns);
  Panel panel;
  panel.rows.assign(row_blocks.size(), std::vector<Cell>(column_blocks.size()));
  panel.row_labels = labels(row_blocks);
  panel.column_labels = labels(column_blocks);
  const bool are_elements = rows <= limits.rows && columns <= limits.columns;
  for (std::size_t i = 0; i < entries.size(); ++i) {
    const PictureEntry& entry = entries[i];
    if (!is_inside(entry.row, rows) || !is_inside(entry.column, columns)) continue;
    Cell& cell = panel.rows[block_of(row_blocks, entry.row)][block_of(column_blocks, entry.column)];
    if (!are_elements && cell.kind == CellKind::Taken) continue;  // one entry that is taken colours a block
    cell = {entry.is_taken ? CellKind::Taken : CellKind::Left, are_elements ? entry.text : "", 1,
            static_cast<std::int64_t>(i)};
  }
  return panel;
}

Picture picture_of_rows(std::span<const Splits> nested_row_splits, const PictureLimits& limits) {
  const Splits& inner = nested_row_splits.back();
  const auto rows = static_cast<std::int64_t>(inner.size()) - 1, shown = std::min(rows, limits.rows);
  const auto length = [&](std::int64_t row) {
    return inner[static_cast<std::size_t>(row) + 1] - inner[static_cast<std::size_t>(row)];
  };
  std::int64_t longest = 0;
  for (std::int64_t row = 0; row < shown; ++row) longest = std::max(longest, length(row));
  const std::int64_t block = longest == 0 ? 1 : (longest - 1) / limits.columns + 1;
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
