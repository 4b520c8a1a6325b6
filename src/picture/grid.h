// Grid: the blocks of each axis that become the cells of a picture, and the panels made of them.
#pragma once

#include <algorithm>
#include <span>
#include <string>
#include <vector>

#include "backslice/picture.h"

namespace backslice {

// The axes of a picture. The last two are rows and columns, the axes before them the panels. A vector is drawn as a
// matrix of one row, a scalar as a matrix of one element.
struct Grid {
  using Axis = std::vector<AxisBlock>;

  Grid(const Selection& selection, const PictureLimits& limits);

  const Axis& rows() const { return axes[axes.size() - 2]; }
  const Axis& columns() const { return axes.back(); }
  std::span<const Axis> slabs() const { return {axes.data(), axes.size() - 2}; }

  bool are_elements() const;       // whether each cell is one element
  std::string block_text() const;  // the size of a cell, as "2 x 4"

  int rank;  // of the tensor
  std::vector<Axis> axes;
  std::vector<std::int64_t> counts;  // how many indices of each axis are selected
};

// Returns an empty panel for these slabs, with its title and its labels.
Panel panel_at(const Grid& grid, std::span<const std::size_t> place);

// Returns a panel for each slab, with the cells that make(positions of its blocks) returns.
template <class MakeCell>
std::vector<Panel> panels_of(const Grid& grid, bool is_dense, const MakeCell& make) {
  std::vector<Panel> panels;
  std::vector<std::size_t> place(grid.axes.size(), 0);
  const auto slabs = grid.slabs();
  if (std::any_of(slabs.begin(), slabs.end(), [](const Grid::Axis& axis) { return axis.empty(); })) return panels;
  while (true) {
    Panel panel = panel_at(grid, place);
    panel.is_dense = is_dense;
    for (std::size_t row = 0; row < grid.rows().size(); ++row) {
      place[slabs.size()] = row;
      panel.rows.emplace_back();
      for (std::size_t column = 0; column < grid.columns().size(); ++column) {
        place.back() = column;
        panel.rows.back().push_back(make(place));
      }
    }
    panels.push_back(std::move(panel));
    std::size_t axis = slabs.size();
    while (axis > 0 && ++place[axis - 1] == slabs[axis - 1].size()) place[--axis] = 0;
    if (axis == 0) return panels;
  }
}

}  // namespace backslice
