// What is refused of memory that is not the CPU's.
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
