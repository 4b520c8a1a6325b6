// The cells of a tensor's picture, in drawing order, and their names.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "backslice/picture.h"

namespace explorer {

using Blocks = std::vector<backslice::AxisBlock>;  // a cell, as one block per axis
using Ranges = std::vector<backslice::Range>;

// Calls visit(block of each axis) for each cell of the picture of a selection.
void for_each_cell(const backslice::Selection& selection, const backslice::PictureLimits& limits,
                   const std::function<void(const Blocks&)>& visit);

Ranges box_of(const Blocks& block);
std::int64_t elements_of(const Ranges& box);

// "x[1, 2:4]"
std::string block_text(std::string_view array, const Ranges& ranges);

// Renames the array in the panels' titles: "x[0, :, :]" becomes "dy[0, :, :]".
void rename_panels(backslice::Picture& picture, std::string_view array);

}  // namespace explorer
