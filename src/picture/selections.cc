// Pictures of selections: one cell per element if they fit, else one per block; one panel per slab.
#include <algorithm>

#include "backslice/notation.h"
#include "backslice/picture.h"
#include "core/errors.h"
#include "notation/lists.h"
#include "picture/grid.h"

namespace backslice {
namespace {

constexpr std::int64_t kMostLabelled = 1000;  // longer numbers would not fit a cell

using Block = std::span<const AxisBlock>;  // one range per axis

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
