// Devices: checks of arguments that may be on them, and where kernels are queued.
#pragma once

#include <string_view>

#include "backslice/device.h"
#include "backslice/status.h"

namespace backslice {

// For everything that has no kernel for other devices: nothing but a kernel may touch their memory.
Status check_on_cpu(Device device, std::string_view argument);

// Arguments of one operation lie on one device.
Status check_same_device(Device device, std::string_view argument, Device other, std::string_view other_argument);

}  // namespace backslice

namespace backslice::cuda {

// Where kernels are queued.
struct DeviceStream {
  int ordinal = 0;
  CudaStream stream = nullptr;
};

}  // namespace backslice::cuda
