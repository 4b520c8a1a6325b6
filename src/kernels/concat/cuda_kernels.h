// Launches of the concatenation kernels.
#pragma once

#include <cuda_runtime_api.h>

#include "kernels/concat/device_segments.h"
#include "kernels/cuda/addition.h"

namespace backslice::cuda {

// Copies segments, and writes zeros if `writes_zeros` is set. `unit` is one of kCopyUnits that divides all addresses and
// sizes.
cudaError_t copy_segments(const SegmentTable& table, std::int64_t tiles, int unit, bool writes_zeros,
                          cudaStream_t stream);

// Writes sums of the segments with terms, or adds the segments that are not zeros to the destination. `width` is the
// number of bytes that are added at once, 1 to 16, a multiple of the size of a number.
cudaError_t add_segments(const SegmentTable& table, std::int64_t tiles, const Addition& addition, int width,
                         SegmentSums sums, cudaStream_t stream);

}  // namespace backslice::cuda
