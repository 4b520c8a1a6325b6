// Concatenation on CUDA devices. For code that is compiled with and without CUDA.
#pragma once

#include <span>

#include "kernels/concat/kernel.h"
#include "kernels/cuda/workspace.h"

namespace backslice::cuda {

// As backslice::concat, for memory of one device. It is queued, and nothing waits, but that tables of many thousand
// segments are copied from memory of this process, which a stream that is captured refuses.
void concat(std::byte* dst, std::span<const Segment> segments, DType dtype, const Workspace& workspace,
            std::span<const Sum> sums = {}, Write write = Write::Overwrite);

}  // namespace backslice::cuda
