// Devices: checks of arguments, and the streams of kernels.
#pragma once

#include <string_view>

#include "backslice/device.h"
#include "backslice/status.h"

namespace backslice {

// For operations without kernels for other devices: only a kernel may touch device memory.
Status check_on_cpu(Device device, std::string_view argument);

// Checks that two arguments of one operation are on one device.
Status check_same_device(Device device, std::string_view argument, Device other, std::string_view other_argument);

}  // namespace backslice

namespace backslice::cuda {

// The stream of a kernel.
struct DeviceStream {
  int ordinal = 0;
  CudaStream stream = nullptr;
};

}  // namespace backslice::cuda
