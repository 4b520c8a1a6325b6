// Pictures of selections: one cell per element while they fit, beyond that one per block; one panel per slab.
#include <algorithm>

#include "backslice/notation.h"
#include "backslice/picture.h"
#include "core/errors.h"
#include "notation/lists.h"

namespace backslice {
namespace {

constexpr std::int64_t kMostLabelled = 1000;  // longer numbers would not fit a cell

using Axis = std::vector<AxisBlock>;
using Block = std::span<const AxisBlock>;  // one range per axis

std::string label(const AxisBlock& block) {
  return block.hi == block.lo + 1 ? std::to_string(block.lo) : join(block.lo, ":", block.hi);
}

std::vector<std::string> labels(const Axis& axis) {
  std::vector<std::string> found;
  for (const AxisBlock& block : axis) found.push_back(label(block));
  return found;
}

// The axes of a picture. A vector is drawn as a matrix of one row, a scalar as one of one element.
struct Grid {
  explicit Grid(const Selection& selection, const PictureLimits& limits) : axes(picture_blocks(selection, limits)) {
    rank = static_cast<int>(axes.size());
    for (int axis = 0; axis < rank; ++axis) counts.push_back(selection.axis(axis).count);
    while (axes.size() < 2) {
      axes.insert(axes.begin(), Axis{{0, 1, 1, 0}});
      counts.insert(counts.begin(), 1);
    }
  }
  const Axis& rows() const { return axes[axes.size() - 2]; }
  const Axis& columns() const { return axes.back(); }
  std::span<const Axis> slabs() const { return {axes.data(), axes.size() - 2}; }

  bool are_elements() const {
    return std::all_of(axes.begin(), axes.end(), [](const Axis& axis) {
      return std::all_of(axis.begin(), axis.end(), [](const AxisBlock& block) { return block.hi == block.lo + 1; });
    });
  }
  std::string block_text() const {
    std::string text;
    for (std::size_t i = axes.size() - static_cast<std::size_t>(rank); i < axes.size(); ++i) {
      text += join(text.empty() ? "" : " x ", axes[i].empty() ? 0 : axes[i][0].hi);
    }
    return text;
  }

  int rank;
  std::vector<Axis> axes;
  std::vector<std::int64_t> counts;
};

std::int64_t size_of(Block block) {
  std::int64_t size = 1;
  for (const AxisBlock& range : block) size *= range.hi - range.lo;
  return size;
}

std::int64_t taken_of(Block block) {
  std::int64_t taken = 1;
  for (const AxisBlock& range : block) taken *= range.taken;
  return taken;
}

Cell cell_of(Block block, std::span<const std::int64_t> counts, bool is_labelled) {
  const std::int64_t size = size_of(block), taken = taken_of(block);
  if (taken == 0) return {CellKind::Left};
  if (taken < size) return {CellKind::Part, "", static_cast<double>(taken) / static_cast<double>(size)};
  std::int64_t position = 0;
  for (std::size_t i = 0; i < block.size(); ++i) position = position * counts[i] + block[i].position;
  return {CellKind::Taken, is_labelled ? std::to_string(position) : "", 1, position};
}

// A panel for each slab, with the cells that make(places of its blocks) returns.
template <class MakeCell>
std::vector<Panel> panels_of(const Grid& grid, bool is_dense, const MakeCell& make) {
  std::vector<Panel> panels;
  std::vector<std::size_t> place(grid.axes.size(), 0);
  const auto slabs = grid.slabs();
  if (std::any_of(slabs.begin(), slabs.end(), [](const Axis& axis) { return axis.empty(); })) return panels;
  while (true) {
    Panel panel;
    for (std::size_t i = 0; i < slabs.size(); ++i) panel.title += (i > 0 ? ", " : "x[") + label(slabs[i][place[i]]);
    if (!slabs.empty()) panel.title += ", :, :]";
    for (std::size_t row = 0; row < grid.rows().size(); ++row) {
      place[slabs.size()] = row;
      panel.rows.emplace_back();
      for (std::size_t column = 0; column < grid.columns().size(); ++column) {
        place.back() = column;
        panel.rows.back().push_back(make(place));
      }
    }
    if (grid.rank > 1) panel.row_labels = labels(grid.rows());
    if (grid.rank > 0) panel.column_labels = labels(grid.columns());
    panel.is_dense = is_dense;
    panels.push_back(std::move(panel));
    std::size_t axis = slabs.size();
    while (axis > 0 && ++place[axis - 1] == slabs[axis - 1].size()) place[--axis] = 0;
    if (axis == 0) return panels;
  }
}

std::vector<AxisBlock> blocks_at(const Grid& grid, std::span<const std::size_t> place) {
  std::vector<AxisBlock> block;
  for (std::size_t i = 0; i < place.size(); ++i) block.push_back(grid.axes[i][place[i]]);
  return block;
}

void note_blocks(Picture& picture, const Grid& grid, bool is_dense) {
  if (picture.are_elements) return;
  picture.notes.push_back(
      is_dense ? join("Each cell is ", grid.block_text(), " elements, shaded by the share that is taken.")
               : join("Each cell is a block of ", grid.block_text(), " elements."));
}

}  // namespace

Picture picture_of(const Selection& selection, const PictureLimits& limits) {
  const Grid grid(selection, limits);
  const std::int64_t taken = selection.result_shape().elements();
  Picture picture;
  picture.title = join("x[", index_text(selection), "] of shape ", python_list(selection.shape()), " gives shape ",
                       python_list(selection.result_shape()));
  picture.are_elements = grid.are_elements();
  const bool is_labelled = picture.are_elements && taken <= kMostLabelled && !limits.is_dense;
  picture.panels = panels_of(grid, limits.is_dense, [&](std::span<const std::size_t> place) {
    return cell_of(blocks_at(grid, place), grid.counts, is_labelled);
  });
  if (is_labelled && taken > 0) {
    picture.notes.push_back("The numbers are the positions in the result, in row-major order.");
  }
  note_blocks(picture, grid, limits.is_dense);
  if (selection.shape().elements() == 0) picture.notes.push_back("The input has no elements.");
  return picture;
}

Picture picture_of_many(const Shape& shape, std::span<const Selection> selections, const PictureLimits& limits) {
  const Grid whole(Selection::all(shape), limits);
  std::vector<Grid> grids;
  for (const Selection& selection : selections) grids.emplace_back(selection, limits);
  Picture picture;
  picture.title =
      join(selections.size(), selections.size() == 1 ? " slice" : " slices", " of shape ", python_list(shape));
  picture.are_elements = whole.are_elements();
  picture.panels = panels_of(whole, limits.is_dense, [&](std::span<const std::size_t> place) -> Cell {
    double taken = 0, most = 0;
    const auto size = static_cast<double>(size_of(blocks_at(whole, place)));
    for (const Grid& grid : grids) {
      const auto own = static_cast<double>(taken_of(blocks_at(grid, place)));
      taken += own;
      most = std::max(most, own);
    }
    if (taken == 0) return {CellKind::Left};
    if (taken > size) return {CellKind::Often, picture.are_elements ? std::to_string(static_cast<int>(taken)) : ""};
    if (most < size) return {CellKind::Part, "", taken / size};
    return {CellKind::Taken, picture.are_elements ? "1" : ""};
  });
  if (picture.are_elements && shape.elements() > 0) {
    picture.notes.push_back("The numbers say how many of the slices take each element.");
  }
  note_blocks(picture, whole, limits.is_dense);
  return picture;
}

}  // namespace backslice
