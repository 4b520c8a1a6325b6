// Writes a destination tile by tile. Each tile is composed in the cache from all slices that meet it.
#pragma once

#include "core/tuning.h"
#include "kernels/cpu/kernel_context.h"
#include "kernels/cuda/memory.h"
#include "kernels/tiles/parts.h"

namespace backslice {

// Fills `dst` with the slices, and with zeros elsewhere; into zeros, it need not write zeros again. Preconditions: no
// two elements of dst share memory; dtype is not String, and can be added if the overlap is added; `write` is Overwrite
// or IntoZeros.
void fill_tiles(const CommonAxes& common, DType dtype, std::int64_t item_size, Overlap overlap, Write write,
                std::byte* dst, const KernelContext& context, std::int64_t tile_bytes = kTuning.tile);

}  // namespace backslice

namespace backslice::cuda {

// The same on a CUDA device, in one kernel: it waits for nothing, and can be captured into a graph. If it
// `accumulates`, the sum is added to the destination, slice by slice in the order of the list, and nothing else is
// touched. The tables are in memory of the context's allocator, which is the device's, until the kernel has run. Throws
// a StatusException if CUDA fails.
void fill_tiles(const CommonAxes& common, DType dtype, std::int64_t item_size, Overlap overlap, bool accumulates,
                std::byte* dst, const KernelContext& context);

}  // namespace backslice::cuda
