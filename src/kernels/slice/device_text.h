// What runs on a CUDA device, as text: for those who ask what a gradient will cost.
#pragma once

#include <string>

#include "kernels/slice/device_plan.h"

namespace backslice::cuda {

// The kernel that a plan becomes, and its loops, one per line.
std::string to_string(const DevicePlan& plan);

}  // namespace backslice::cuda
