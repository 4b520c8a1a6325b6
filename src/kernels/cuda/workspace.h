// Where an operation queues its kernels, and where the memory that they need comes from.
#pragma once

#include "kernels/cuda/memory.h"

namespace backslice::cuda {

struct Workspace {
  DeviceStream queue;
  Allocator& allocator;
};

}  // namespace backslice::cuda
