// Many slices of one destination on a CUDA device, in one kernel. It waits for nothing, and can be captured into a
// graph.
#pragma once

#include "kernels/cuda/memory.h"
#include "kernels/tiles/parts.h"

namespace backslice::cuda {

// See fill_tiles() of kernel.h; where it `accumulates`, the sum is added to what is there, slice by slice in the order
// of the list, and nothing else is touched. The tables lie in memory of the allocator, which is that of the device,
// until the kernel has run. Throws a StatusException where CUDA refuses.
void fill_tiles(const CommonAxes& common, DType dtype, std::int64_t item_size, Overlap overlap, bool accumulates,
                std::byte* dst, Allocator& allocator, DeviceStream queue);

}  // namespace backslice::cuda
