#include "picture/grid.h"

#include "core/errors.h"

namespace backslice {
namespace {

std::string label(const AxisBlock& block) {
  return block.hi == block.lo + 1 ? std::to_string(block.lo) : join(block.lo, ":", block.hi);
}

std::vector<std::string> labels(const Grid::Axis& axis) {
  std::vector<std::string> found;
  for (const AxisBlock& block : axis) found.push_back(label(block));
  return found;
}

}  // namespace

Grid::Grid(const Selection& selection, const PictureLimits& limits) : axes(picture_blocks(selection, limits)) {
  rank = static_cast<int>(axes.size());
  for (int axis = 0; axis < rank; ++axis) counts.push_back(selection.axis(axis).count);
  while (axes.size() < 2) {
    axes.insert(axes.begin(), Axis{{0, 1, 1, 0}});
    counts.insert(counts.begin(), 1);
  }
}

bool Grid::are_elements() const {
  return std::all_of(axes.begin(), axes.end(), [](const Axis& axis) {
    return std::all_of(axis.begin(), axis.end(), [](const AxisBlock& block) { return block.hi == block.lo + 1; });
  });
}

std::string Grid::block_text() const {
  std::string text;
  for (std::size_t i = axes.size() - static_cast<std::size_t>(rank); i < axes.size(); ++i) {
    text += join(text.empty() ? "" : " x ", axes[i].empty() ? 0 : axes[i][0].hi);
  }
  return text;
}

Panel panel_at(const Grid& grid, std::span<const std::size_t> place) {
  Panel panel;
  const auto slabs = grid.slabs();
  for (std::size_t i = 0; i < slabs.size(); ++i) panel.title += (i > 0 ? ", " : "x[") + label(slabs[i][place[i]]);
  if (!slabs.empty()) panel.title += ", :, :]";
  if (grid.rank > 1) panel.row_labels = labels(grid.rows());
  if (grid.rank > 0) panel.column_labels = labels(grid.columns());
  return panel;
}

}  // namespace backslice
