// The pictures of a slice, with what is said about each cell.
#pragma once

#include <vector>

#include "answer.h"

namespace explorer {

// Of the first slice: x, y, and where every element has a cell, dy and dx. Of more than one: how often each element is
// taken, and the sum of their gradients.
std::vector<NotedPicture> slice_pictures(const std::vector<backslice::Selection>& selections,
                                         const backslice::PictureLimits& limits);

}  // namespace explorer
