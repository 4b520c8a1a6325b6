// Launches of the kernels for many slices of one destination.
#pragma once

#include <cuda_runtime_api.h>

#include "kernels/cuda/memory.h"
#include "kernels/tiles/device_tiles.h"

namespace backslice::cuda {

// Preconditions: the tables of `tiles` are on the device, and the variant can run them.
cudaError_t sum_tiles(const DeviceTiles& tiles, const TileVariant& variant, cudaStream_t stream);

// Tables in device memory, allocated in stream order, and the struct that points to them.
struct UploadedTiles {
  UploadedTiles(const TileTables& made, Allocator& allocator, DeviceStream queue);

  Buffer memory;
  DeviceTiles tiles;
};

}  // namespace backslice::cuda
