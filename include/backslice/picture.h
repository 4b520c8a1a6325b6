/// @file
/// Pictures of slices as values: panels of cells, which a terminal, a page or a file can draw; svg() draws them as SVG.
///
///     Result<Selection> s = Selection::from_index({4, 6}, "1:3, ::2");
///     std::string file = svg(picture_of(*s));
///
/// One cell is one element while they fit; beyond that it is a block of them. What a picture costs depends on its
/// limits, not on the shape.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "backslice/selection.h"

namespace backslice {

/// The content of a cell.
enum class CellKind : std::uint8_t {
  Empty,  ///< Nothing: no row reaches here, no entry is stored.
  Left,   ///< Elements that the slice leaves out; a zero of the gradient.
  Part,   ///< A block of which some elements are taken.
  Taken,  ///< Elements that the slice takes.
  Often,  ///< Elements that more than one slice takes.
};

/// One element, or a block of them.
struct Cell {
  CellKind kind = CellKind::Empty;
  std::string text = {};
  double share = 1;  ///< Of a block: how much of it is taken.
  std::int64_t position =
      -1;  ///< Of what it shows, in the result or in the values of ragged rows; -1 where it is none.
};

/// One grid. Rows may differ in length.
struct Panel {
  std::string title = {};
  std::vector<std::vector<Cell>> rows = {};
  std::vector<std::string> row_labels = {}, column_labels = {};
  bool is_dense = false;  ///< There are no numbers to read: cells may be small, without gaps.
};

/// A picture: a title, panels of cells, and notes below them.
struct Picture {
  std::string title = {};
  std::vector<Panel> panels = {};
  std::vector<std::string> notes = {};
  bool are_elements = true;  ///< One per cell; else cells are blocks of several.
};

/// How many cells fit, at least one each way: more elements than that are drawn as blocks. Dense cells are too small
/// for numbers.
struct PictureLimits {
  std::int64_t rows = 16, columns = 24, panels = 6;
  bool is_dense = false;
};

/// A range of one axis, the number of its selected indices, and the position of the first of them in the result.
struct AxisBlock {
  std::int64_t lo, hi, taken, position;
};

/// Cuts an axis into at most that many blocks, whose size is a power of two; into one if `most` is less than one.
BACKSLICE_EXPORT std::vector<AxisBlock> cut_axis(std::int64_t extent, const Selection::Axis& axis, std::int64_t most);

/// The blocks that each axis of a picture is cut into; the last two are its rows and columns.
BACKSLICE_EXPORT std::vector<std::vector<AxisBlock>> picture_blocks(const Selection& selection,
                                                                    const PictureLimits& limits = {});

/// Draws the input; selected elements have their position in the result.
BACKSLICE_EXPORT Picture picture_of(const Selection& selection, const PictureLimits& limits = {});

/// The input, with how many of the slices take each element. Precondition: all are slices of that shape.
BACKSLICE_EXPORT Picture picture_of_many(const Shape& shape, std::span<const Selection> selections,
                                         const PictureLimits& limits = {});

/// An entry of a sparse tensor.
struct PictureEntry {
  std::vector<std::int64_t> index = {};
  bool is_taken = true;
  std::string text = {};
};

/// Draws a sparse tensor with its entries; entries outside the window are pale. Of several entries at one place, or in
/// one block, one is shown: its number is the cell's position. Entries outside the shape are omitted. Precondition:
/// each has as many indices as the shape has axes.
BACKSLICE_EXPORT Picture picture_of_entries(const Shape& shape, std::span<const PictureEntry> entries,
                                            const PictureLimits& limits = {});

/// Draws ragged rows, one per row of the innermost list: long ones in blocks of values, and only the first rows. Cells
/// of one value have no text; their number is their position. Precondition: valid row splits, one list or more.
BACKSLICE_EXPORT Picture picture_of_rows(std::span<const std::vector<std::int64_t>> nested_row_splits,
                                         const PictureLimits& limits = {});

/// The colours of pictures, as #rrggbb. Texts have a contrast of 4.5 and more with their background.
struct Palette {
  std::string_view ground, ink, faint, left, part, taken, often, on_taken;
};
BACKSLICE_EXPORT Palette light_palette();
BACKSLICE_EXPORT Palette dark_palette();

/// Returns the strength of a cell's colour: blocks with few selected elements are pale.
BACKSLICE_EXPORT double opacity(const Cell& cell);

/// The text of an SVG file, in the colours of light_palette(). Cells and texts have a class by which a page can give
/// them others.
BACKSLICE_EXPORT std::string svg(const Picture& picture, int panels_across = 3);

}  // namespace backslice
