#include "cells.h"

#include "core/errors.h"

namespace explorer {

using namespace backslice;

namespace {

std::string range_text(Range range) {
  return range.hi == range.lo + 1 ? std::to_string(range.lo) : join(range.lo, ":", range.hi);
}

}  // namespace

void for_each_cell(const Selection& selection, const PictureLimits& limits,
                   const std::function<void(const Blocks&)>& visit) {
  const auto axes = picture_blocks(selection, limits);
  std::vector<std::size_t> place(axes.size(), 0);
  for (const auto& axis : axes) {
    if (axis.empty()) return;
  }
  while (true) {
    Blocks block;
    for (std::size_t i = 0; i < axes.size(); ++i) block.push_back(axes[i][place[i]]);
    visit(block);
    std::size_t axis = axes.size();
    while (axis > 0 && ++place[axis - 1] == axes[axis - 1].size()) place[--axis] = 0;
    if (axis == 0) return;
  }
}

Ranges box_of(const Blocks& block) {
  Ranges box;
  for (const AxisBlock& range : block) box.push_back({range.lo, range.hi});
  return box;
}

std::int64_t elements_of(const Ranges& box) {
  std::int64_t elements = 1;
  for (Range range : box) elements *= range.hi - range.lo;
  return elements;
}

std::string block_text(std::string_view array, const Ranges& ranges) {
  std::string text;
  for (Range range : ranges) text += (text.empty() ? "" : ", ") + range_text(range);
  return ranges.empty() ? std::string(array) : join(array, "[", text, "]");
}

void rename_panels(Picture& picture, std::string_view array) {
  for (Panel& panel : picture.panels) {
    if (!panel.title.empty()) panel.title = join(array, panel.title.substr(panel.title.find('[')));
  }
}

}  // namespace explorer
