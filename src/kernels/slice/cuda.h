// The slice kernels on a CUDA device: what kernel.h has, queued on a stream. They allocate nothing and wait for
// nothing.
#pragma once

#include "backslice/dtype.h"
#include "kernels/cuda/memory.h"
#include "plan/plan.h"

namespace backslice::cuda {

// See fill() and add() of kernel.h. They throw a StatusException where CUDA refuses.
void fill(const Plan& plan, std::byte* dst, const std::byte* src, DeviceStream queue);
void add(const Plan& plan, DType dtype, std::byte* dst, const std::byte* src, DeviceStream queue);

}  // namespace backslice::cuda
