// The kernels for many slices of one destination, launched.
#pragma once

#include <cuda_runtime_api.h>

#include "kernels/tiles/device_tiles.h"

namespace backslice::cuda {

// Precondition: the tables that `tiles` points to are on the device.
cudaError_t sum_tiles(const DeviceTiles& tiles, cudaStream_t stream);

}  // namespace backslice::cuda
