#include "kernels/cuda/runtime.h"
#include "kernels/slice/cuda_kernels.h"
#include "kernels/slice/kernel.h"

namespace backslice::cuda {

void fill(const Plan& plan, std::byte* dst, const std::byte* src, DeviceStream queue) {
  const DeviceGuard guard(queue.ordinal);
  for (const DevicePlan& part : device_plans(plan, dst, src)) {
    check(fill_plan(part, fill_variant(part), queue.stream), "fill", queue.ordinal);
  }
}

void add(const Plan& plan, DType dtype, std::byte* dst, const std::byte* src, DeviceStream queue) {
  const DeviceGuard guard(queue.ordinal);
  const Addition addition = addition_of(dtype);
  for (const DevicePlan& part : device_sums(plan, dst, src)) {
    check(add_plan(part, addition, queue.stream), "add", queue.ordinal);
  }
}

}  // namespace backslice::cuda
