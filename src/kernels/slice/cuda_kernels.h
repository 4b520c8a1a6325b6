// Launches of the slice kernels.
#pragma once

#include <cuda_runtime_api.h>

#include "kernels/slice/device_rows.h"

namespace backslice::cuda {

// Precondition: variant.can_run(plan).
cudaError_t fill_plan(const DevicePlan& plan, const FillVariant& variant, cudaStream_t stream);

cudaError_t add_plan(const DevicePlan& plan, const Addition& addition, cudaStream_t stream);

}  // namespace backslice::cuda
