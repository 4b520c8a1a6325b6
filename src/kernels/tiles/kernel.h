// Writing a destination tile by tile, each tile composed in the cache from all slices that meet it.
#pragma once

#include "core/tuning.h"
#include "kernels/cpu/kernel_context.h"
#include "kernels/cuda/memory.h"
#include "kernels/tiles/parts.h"

namespace backslice {

// Fills `dst` with the slices, zero where there is none. Into zeros, it need not write those again.
// Preconditions: dst has no element in two places; dtype is not String, and can be added where the overlap is added;
// `write` is Overwrite or IntoZeros.
void fill_tiles(const CommonAxes& common, DType dtype, std::int64_t item_size, Overlap overlap, Write write,
                std::byte* dst, const KernelContext& context, std::int64_t tile_bytes = kTuning.tile);

}  // namespace backslice

namespace backslice::cuda {

// The same on a CUDA device, in one kernel: it waits for nothing, and can be captured into a graph. Where it
// `accumulates`, the sum is added to what is there, slice by slice in the order of the list, and nothing else is
// touched. The tables lie in memory of the context's allocator, which is that of the device, until the kernel has run.
// Throws a StatusException where CUDA refuses.
void fill_tiles(const CommonAxes& common, DType dtype, std::int64_t item_size, Overlap overlap, bool accumulates,
                std::byte* dst, const KernelContext& context);

}  // namespace backslice::cuda
