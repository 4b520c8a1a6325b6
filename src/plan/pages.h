// How many pages of memory a selection touches.
#pragma once

#include "backslice/selection.h"

namespace backslice {

// The system's page size: 4 KiB on x86-64; 4, 16 or 64 KiB on ARM, depending on the kernel.
std::int64_t page_bytes();

// Returns an upper bound, from the layout of the input alone.
std::int64_t pages_touched(const Selection& selection, const Layout& layout, std::int64_t page_bytes);

}  // namespace backslice
