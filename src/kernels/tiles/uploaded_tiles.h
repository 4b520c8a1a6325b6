// UploadedTiles: the tables of many slices where a kernel reads them.
#pragma once

#include "kernels/cuda/memory.h"
#include "kernels/tiles/device_tiles.h"

namespace backslice::cuda {

// Tables in memory of the device, behind what was queued before, and the struct that points to them.
struct UploadedTiles {
  UploadedTiles(const TileTables& made, Allocator& allocator, DeviceStream queue);

  Buffer memory;
  DeviceTiles tiles;
};

}  // namespace backslice::cuda
