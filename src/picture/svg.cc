// Draws pictures as SVG. Everything about their style is here.
#include <algorithm>
#include <cmath>
#include <map>

#include "backslice/picture.h"
#include "core/errors.h"

namespace backslice {
namespace {

constexpr int kCellWidth = 30, kCellHeight = 22, kGap = 2;
constexpr int kLabel = 11, kTitle = 13, kLine = 18, kMargin = 12;
constexpr std::size_t kLongestLabel = 4;  // the longest label that fits over a column
constexpr double kLetter = 6.8, kTitleLetter = 8.0;

constexpr std::string_view kClasses[] = {"empty", "left", "part", "taken", "often"};

std::string_view fill(CellKind kind) {
  const Palette palette = light_palette();
  switch (kind) {
    case CellKind::Empty: return "none";
    case CellKind::Left: return palette.left;
    case CellKind::Part: return palette.part;
    case CellKind::Taken: return palette.taken;
    case CellKind::Often: return palette.often;
  }
  return "none";
}

bool is_printed(char c) { return static_cast<unsigned char>(c) >= 0x20 && c != 0x7f; }

// Writes question marks for characters that XML does not allow.
std::string escaped(std::string_view text) {
  std::string safe;
  for (char c : text) {
    if (c == '&')
      safe += "&amp;";
    else if (c == '<')
      safe += "&lt;";
    else if (c == '>')
      safe += "&gt;";
    else if (c == '"')
      safe += "&quot;";
    else
      safe += is_printed(c) ? c : '?';
  }
  return safe;
}

int letters(std::string_view text) {
  return static_cast<int>(
      std::count_if(text.begin(), text.end(), [](char c) { return (static_cast<unsigned char>(c) & 0xc0) != 0x80; }));
}
int width_of(std::string_view text, double letter) { return static_cast<int>(std::lround(letters(text) * letter)); }

struct TextStyle {
  std::string_view css_class = "ink", fill = light_palette().ink, anchor = "start";
  int size = kLabel;
  bool is_bold = false;
};
const TextStyle kFaintLabel{"faint", light_palette().faint, "middle"};

void add_text(std::string& out, int x, int y, std::string_view text, const TextStyle& style) {
  out += join(" <text x=\"", x, "\" y=\"", y, "\" class=\"", style.css_class, "\" font-size=\"", style.size,
              "\" text-anchor=\"", style.anchor, "\" fill=\"", style.fill, "\"",
              style.is_bold ? " font-weight=\"bold\"" : "", ">", escaped(text), "</text>\n");
}

// Returns the beginning of a range: 256 of "256:512".
std::string beginning(const std::string& label) { return label.substr(0, label.find(':')); }

// Writes the label over each column. If the labels would touch each other, it writes only the beginning of every third
// or a later one.
std::map<std::size_t, std::string> column_labels(const std::vector<std::string>& labels) {
  std::size_t longest = 0, longest_begin = 0;
  for (const std::string& label : labels) {
    longest = std::max(longest, label.size());
    longest_begin = std::max(longest_begin, beginning(label).size());
  }
  const bool fit = longest <= kLongestLabel;
  const std::size_t gap = kLongestLabel - 1;  // one letter less, as space between labels
  const std::size_t every = fit ? 1 : std::max<std::size_t>(3, (longest_begin + gap - 1) / gap);
  std::map<std::size_t, std::string> shown;
  for (std::size_t i = 0; i < labels.size(); i += every) shown[i] = fit ? labels[i] : beginning(labels[i]);
  return shown;
}

std::string opacity_text(const Cell& cell) {
  const auto hundredths = std::lrint(opacity(cell) * 100);
  return join(hundredths / 100, ".", hundredths / 10 % 10, hundredths % 10);
}

void add_cell(std::string& out, const Cell& cell, int x, int y) {
  const int width = kCellWidth - kGap, height = kCellHeight - kGap;
  out += join(" <rect x=\"", x, "\" y=\"", y, "\" width=\"", width, "\" height=\"", height, "\" rx=\"3\" class=\"",
              kClasses[static_cast<int>(cell.kind)], "\" fill=\"", fill(cell.kind), "\"");
  if (cell.kind == CellKind::Empty) out += join(" stroke=\"", light_palette().left, "\"");
  if (cell.kind == CellKind::Part) out += join(" fill-opacity=\"", opacity_text(cell), "\"");
  out += " />\n";
  if (cell.text.empty()) return;
  const bool is_dark = cell.kind == CellKind::Taken || cell.kind == CellKind::Often;
  TextStyle style{is_dark ? "on-taken" : "faint", is_dark ? light_palette().on_taken : light_palette().faint, "middle"};
  if (const int size = letters(cell.text); size > 4) style.size = std::max(6, 4 * kLabel / size);
  add_text(out, x + width / 2, y + height / 2 + 4, cell.text, style);
}

struct Size {
  int width = 0, height = 0;
};

Size add_panel(std::string& out, const Panel& panel, int x, int y) {
  out += " <g class=\"panel\">\n";
  int left = 0, top = 0;
  std::size_t columns = 0;
  for (const std::string& label : panel.row_labels) left = std::max(left, letters(label) * 7 + 6);
  if (!panel.title.empty()) {
    top += kLine;
    add_text(out, x, y + top - 5, panel.title, {});
  }
  if (!panel.column_labels.empty()) {
    top += kLine;
    for (const auto& [i, label] : column_labels(panel.column_labels)) {
      add_text(out, x + left + static_cast<int>(i) * kCellWidth + kCellWidth / 2, y + top - 5, label, kFaintLabel);
    }
  }
  for (std::size_t i = 0; i < panel.rows.size(); ++i) {
    const int row_y = y + top + static_cast<int>(i) * kCellHeight;
    if (i < panel.row_labels.size()) {
      TextStyle style = kFaintLabel;
      style.anchor = "end";
      add_text(out, x + left - 6, row_y + kCellHeight / 2 + 4, panel.row_labels[i], style);
    }
    for (std::size_t j = 0; j < panel.rows[i].size(); ++j) {
      add_cell(out, panel.rows[i][j], x + left + static_cast<int>(j) * kCellWidth, row_y);
    }
    columns = std::max(columns, panel.rows[i].size());
  }
  out += " </g>\n";
  return {std::max(left + static_cast<int>(columns) * kCellWidth, width_of(panel.title, kLetter)),
          top + static_cast<int>(panel.rows.size()) * kCellHeight};
}

}  // namespace

Palette light_palette() {
  return {"#ffffff", "#263238", "#546e7a", "#eceff1", "#e9c46a", "#1f7a6f", "#5b3f8c", "#ffffff"};
}
Palette dark_palette() {
  return {"#14191c", "#e3eaee", "#a3b5be", "#29343a", "#c79a3c", "#4db6a6", "#b79ce0", "#0d1517"};
}

double opacity(const Cell& cell) { return cell.kind == CellKind::Part ? 0.25 + 0.75 * cell.share : 1; }

std::string svg(const Picture& picture, int panels_across) {
  std::string body;
  int y = kMargin;
  if (!picture.title.empty()) {
    add_text(body, kMargin, y + kLine - 5, picture.title, {.size = kTitle, .is_bold = true});
    y += kLine + 4;
  }
  int x = kMargin, widest = 0, tallest = 0, placed = 0;
  for (const Panel& panel : picture.panels) {
    if (placed > 0 && placed % std::max(1, panels_across) == 0) {
      x = kMargin;
      y += tallest + kLine;
      tallest = 0;
    }
    const Size size = add_panel(body, panel, x, y);
    x += size.width + 2 * kMargin;
    tallest = std::max(tallest, size.height);
    widest = std::max(widest, x);
    ++placed;
  }
  y += tallest;
  widest = std::max(widest, 2 * kMargin + width_of(picture.title, kTitleLetter));
  for (const std::string& note : picture.notes) {
    y += kLine;
    add_text(body, kMargin, y, note, {"faint", light_palette().faint});
    widest = std::max(widest, 2 * kMargin + width_of(note, kLetter));
  }
  const int height = y + kMargin;
  return join("<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"", widest, "\" height=\"", height, "\" viewBox=\"0 0 ",
              widest, " ", height,
              "\" role=\"img\" font-family=\"ui-monospace, Menlo, Consolas, monospace\">\n <title>",
              escaped(picture.title), "</title>\n <rect width=\"100%\" height=\"100%\" fill=\"", light_palette().ground,
              "\" class=\"ground\" />\n", body, "</svg>\n");
}

}  // namespace backslice
