// The pictures of a slice, with a note for each cell.
#pragma once

#include <vector>

#include "answer.h"

namespace explorer {

// For one slice: x, y and, if every element has a cell, dy and dx. For several: how often each element is selected, and
// the sum of their gradients.
std::vector<NotedPicture> slice_pictures(const std::vector<backslice::Selection>& selections,
                                         const backslice::PictureLimits& limits);

}  // namespace explorer
