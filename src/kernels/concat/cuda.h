// Concatenation on CUDA devices. For code that is compiled with and without CUDA.
#pragma once

#include <span>

#include "kernels/concat/kernel.h"
#include "kernels/cuda/workspace.h"

namespace backslice::cuda {

// As backslice::concat, for memory of one device. It is queued, and nothing waits, but that tables of many thousand
// segments are copied from memory of this process. A stream that is being captured is refused then: its graph would
// read that memory again when it is gone.
void concat(std::byte* dst, std::span<const Segment> segments, DType dtype, const Workspace& workspace,
            std::span<const Sum> sums = {}, Write write = Write::Overwrite);

}  // namespace backslice::cuda
