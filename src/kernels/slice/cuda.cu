#include "kernels/cuda/launch.h"
#include "kernels/slice/cuda.h"
#include "kernels/slice/device_variants.h"

namespace backslice::cuda {
namespace {

__device__ std::uint32_t thread_number() { return blockIdx.x * kBlock + threadIdx.x; }

template <int kWidth, int kLoops, Grain kGrain>
__global__ void __launch_bounds__(kBlock) fill_kernel(const __grid_constant__ DevicePlan plan, std::uint32_t threads) {
  const std::uint32_t thread = thread_number();
  if (thread < threads) fill_part<kWidth, kLoops, kGrain>(plan, thread);
}

template <int kWidth, int kLoops>
__global__ void __launch_bounds__(kBlock)
    add_kernel(const __grid_constant__ DevicePlan plan, const __grid_constant__ Addition addition) {
  const std::uint32_t thread = thread_number();
  if (thread < plan.items) add_item<kWidth, kLoops>(plan, addition, thread);
}

auto kernel_of(const FillVariant& variant) {
  return with_width_and_count(variant.width, variant.loops, [&]<int kWidth, int kLoops>() {
    return variant.grain == Grain::Chunk ? fill_kernel<kWidth, kLoops, Grain::Chunk>
                                         : fill_kernel<kWidth, kLoops, Grain::Item>;
  });
}

}  // namespace

void fill(const Plan& plan, std::byte* dst, const std::byte* src, DeviceStream queue) {
  const DeviceGuard guard(queue.ordinal);
  for (const DevicePlan& part : device_plans(plan, dst, src)) {
    const FillVariant& variant = fill_variant(part);
    launch(kernel_of(variant), "fill", variant.threads(part), queue, part, variant.threads(part));
  }
}

void add(const Plan& plan, DType dtype, std::byte* dst, const std::byte* src, DeviceStream queue) {
  const DeviceGuard guard(queue.ordinal);
  const Addition addition = addition_of(dtype);
  for (const DevicePlan& part : device_sums(plan, dst, src)) {
    const auto kernel = with_width_and_count(part.width, part.loops,
                                             [&]<int kWidth, int kLoops>() { return add_kernel<kWidth, kLoops>; });
    launch(kernel, "add", part.items, queue, part, addition);
  }
}

}  // namespace backslice::cuda
