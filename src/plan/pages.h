// How many pages of memory a selection touches.
#pragma once

#include "backslice/selection.h"

namespace backslice {

inline constexpr std::int64_t kPageBytes = 4096;

// An upper bound, from the layout of the input alone.
std::int64_t pages_touched(const Selection& selection, const Layout& layout);

}  // namespace backslice
