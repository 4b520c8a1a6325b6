// The kernels for many slices of one destination, launched.
#pragma once

#include <cuda_runtime_api.h>

#include "kernels/tiles/device_variants.h"

namespace backslice::cuda {

// Preconditions: the tables that `tiles` points to are on the device, and the variant can run them.
cudaError_t sum_tiles(const DeviceTiles& tiles, const TileVariant& variant, cudaStream_t stream);

}  // namespace backslice::cuda
