// backslice.picture: pictures as tuples, and as SVG.
#include <nanobind/nanobind.h>

#include "backslice/picture.h"
#include "bindings/arguments.h"
#include "bindings/errors.h"
#include "bindings/index.h"
#include "bindings/module.h"
#include "bindings/objects.h"

namespace backslice::python {
namespace {

constexpr const char* kKinds[] = {"empty", "left", "part", "taken", "often"};

nb::object picture_to_python(const std::vector<std::string>& texts) {
  nb::list list;
  for (const std::string& text : texts) list.append(new_str(text));
  return list;
}

nb::object picture_to_python(const Panel& panel) {
  nb::list rows;
  for (const std::vector<Cell>& row : panel.rows) {
    nb::list cells;
    for (const Cell& cell : row) {
      cells.append(nb::make_tuple(kKinds[static_cast<int>(cell.kind)], new_str(cell.text), cell.share, cell.position));
    }
    rows.append(cells);
  }
  return nb::make_tuple(new_str(panel.title), rows, picture_to_python(panel.row_labels),
                        picture_to_python(panel.column_labels), panel.is_dense);
}

nb::object picture_to_python(const Picture& picture) {
  nb::list panels;
  for (const Panel& panel : picture.panels) panels.append(picture_to_python(panel));
  return nb::make_tuple(new_str(picture.title), panels, picture_to_python(picture.notes), picture.are_elements);
}

std::int64_t int_of(nb::handle value, const char* argument) {
  int overflow = 0;
  return require_int(value, argument, overflow);
}

std::string text_of(nb::handle text) { return std::string(read_str(text, "text")); }

std::vector<std::string> read_texts(nb::handle list) {
  std::vector<std::string> texts;
  const nb::object items = items_of(list);
  for (nb::handle text : nb::borrow<nb::tuple>(items)) texts.push_back(text_of(text));
  return texts;
}

CellKind read_kind(nb::handle kind) {
  const std::string_view name = read_str(kind, "kind");
  for (int i = 0; i < 5; ++i) {
    if (name == kKinds[i]) return static_cast<CellKind>(i);
  }
  raise_invalid_argument("kind is " + repr_text(kind) + ", expected that of a cell");
}

std::vector<Cell> read_cells(nb::handle row) {
  std::vector<Cell> cells;
  const nb::object items = items_of(row);
  for (nb::handle cell : nb::borrow<nb::tuple>(items)) {
    cells.push_back({read_kind(cell[0]), text_of(cell[1]), nb::cast<double>(nb::borrow(cell[2]))});
  }
  return cells;
}

Panel read_panel(nb::handle given) {
  Panel panel;
  panel.title = text_of(given[0]);
  const nb::object rows = items_of(nb::borrow(given[1]));
  for (nb::handle row : nb::borrow<nb::tuple>(rows)) panel.rows.push_back(read_cells(row));
  panel.row_labels = read_texts(nb::borrow(given[2]));
  panel.column_labels = read_texts(nb::borrow(given[3]));
  return panel;
}

nb::object drawn_svg(nb::handle title, nb::handle panels, nb::handle notes) {
  Picture picture{.title = text_of(title), .notes = read_texts(notes)};
  const nb::object items = items_of(panels);
  for (nb::handle panel : nb::borrow<nb::tuple>(items)) picture.panels.push_back(read_panel(panel));
  return new_str(svg(picture));
}

nb::object rows_picture(nb::handle splits, nb::handle rows, nb::handle columns) {
  std::vector<std::vector<std::int64_t>> lists;
  const nb::object items = items_of(splits);
  for (nb::handle list : nb::borrow<nb::tuple>(items)) lists.push_back(IntReader().read(list, "splits"));
  return picture_to_python(
      picture_of_rows(lists, {.rows = int_of(rows, "rows"), .columns = int_of(columns, "columns")}));
}

nb::object entries_panel(nb::handle given_rows, nb::handle given_columns, nb::handle entries) {
  const std::int64_t rows = int_of(given_rows, "rows"), columns = int_of(given_columns, "columns");
  const Shape shape = unwrap(Shape::make({rows, columns}));
  std::vector<PictureEntry> read;
  const nb::object items = items_of(entries);
  for (nb::handle entry : nb::borrow<nb::tuple>(items)) {
    read.push_back({{nb::cast<std::int64_t>(nb::borrow(entry[0])), nb::cast<std::int64_t>(nb::borrow(entry[1]))},
                    nb::cast<bool>(nb::borrow(entry[2])),
                    text_of(entry[3])});
  }
  const PictureLimits limits{.rows = std::max<std::int64_t>(1, rows), .columns = std::max<std::int64_t>(1, columns)};
  return picture_to_python(picture_of_entries(shape, read, limits).panels[0]);
}

nb::dict palette() {
  const Palette colours = light_palette();
  nb::dict dict;
  dict["ink"] = new_str(colours.ink);
  dict["faint"] = new_str(colours.faint);
  dict["left"] = new_str(colours.left);
  dict["part"] = new_str(colours.part);
  dict["taken"] = new_str(colours.taken);
  dict["on_taken"] = new_str(colours.on_taken);
  return dict;
}

}  // namespace

void bind_pictures(nb::module_& m) {
  m.def("_picture",
        [](nb::handle selection, nb::handle rows, nb::handle columns, nb::handle panels, nb::handle is_dense) {
          return picture_to_python(
              picture_of(require_selection(selection), {int_of(rows, "rows"), int_of(columns, "columns"),
                                                        int_of(panels, "panels"), read_flag(is_dense, "is_dense")}));
        });
  m.def("_cut_axis", [](nb::handle extent, nb::handle start, nb::handle step, nb::handle count, nb::handle most) {
    nb::list blocks;
    const Selection::Axis axis{int_of(start, "start"), int_of(step, "step"), int_of(count, "count")};
    for (const auto& [lo, hi, taken, position] : cut_axis(int_of(extent, "extent"), axis, int_of(most, "most"))) {
      blocks.append(nb::make_tuple(lo, hi, taken, position));
    }
    return blocks;
  });
  m.def("_rows_picture", rows_picture);
  m.def("_entries_panel", entries_panel);
  m.def("_svg", drawn_svg);
  m.def("_palette", palette);
}

}  // namespace backslice::python
