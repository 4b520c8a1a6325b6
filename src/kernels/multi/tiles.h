// Writing a destination tile by tile, each tile composed in the cache from all slices that meet it.
#pragma once

#include "kernels/multi/parts.h"
#include "kernels/slice/fill.h"

namespace backslice {

// Fills `dst` with the sum of the slices, zero where there is none. Preconditions: the slices are disjoint, or the
// dtype can be added; dst has no element in two places; dtype is not String.
void fill_tiles(const CommonAxes& common, DType dtype, std::int64_t item_size, bool disjoint, std::byte* dst,
                const FillOptions& options);

}  // namespace backslice
