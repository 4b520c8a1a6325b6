#include "kernels/cuda/launch.h"
#include "kernels/slice/cuda_kernels.h"

namespace backslice::cuda {
namespace {

__device__ std::uint32_t thread_number() { return blockIdx.x * kBlock + threadIdx.x; }

// Number of parts per thread, and of threads per block. One part is best if it is a load and a store. For parts with
// more arithmetic, two in small blocks are 1 to 3 % faster (measured on an H200).
template <int kWidth, int kLoops>
struct Shares {
  static constexpr bool kIsPlain = kWidth == 16 && (kLoops == 1 || kLoops == 2);
  static constexpr unsigned kParts = kIsPlain ? 1 : 2, kThreads = kIsPlain ? kBlock : kBlock / 2;
};

// A plan as the argument of a kernel that was compiled for so many loops, or 0 for any number.
template <int kLoops>
inline constexpr int kLoopsOfArgument = kLoops == 0 ? kMaxLoops : kLoops;
template <int kLoops>
using PlanArgument = DevicePlanOf<kLoopsOfArgument<kLoops>>;

template <int kLoops>
PlanArgument<kLoops> argument(const DevicePlan& plan) {
  return shortened<kLoopsOfArgument<kLoops>>(plan);
}

template <int kWidth, int kLoops, Grain kGrain>
__global__ void __launch_bounds__(Shares<kWidth, kLoops>::kThreads)
    fill_kernel(const __grid_constant__ PlanArgument<kLoops> plan, std::uint32_t parts) {
  using Share = Shares<kWidth, kLoops>;
  const std::uint32_t first = blockIdx.x * (Share::kThreads * Share::kParts) + threadIdx.x;
#pragma unroll
  for (unsigned i = 0; i < Share::kParts; ++i) {
    const std::uint32_t part = first + i * Share::kThreads;  // there are less than 2^31 parts, so this does not wrap
    if (part < parts) fill_part<kWidth, kLoops, kGrain>(plan, part);
  }
}

// The first blocks copy the selected elements, the others write the zeros around them.
template <int kWidth, int kLoops>
__global__ void __launch_bounds__(kBlock)
    fill_apart_kernel(const __grid_constant__ PlanArgument<kLoops> plan,
                      const __grid_constant__ PlanArgument<kLoops> taken, std::uint32_t copying) {
  if (blockIdx.x < copying) {
    const std::uint32_t item = thread_number();
    if (item < taken.items) fill_item<kWidth, kLoops>(taken, item);
  } else {
    const std::uint32_t item = thread_number() - copying * kBlock;
    if (item < plan.items) clear_item<kWidth, kLoops>(plan, item);
  }
}

template <int kWidth, int kLoops>
__global__ void __launch_bounds__(kBlock)
    add_kernel(const __grid_constant__ PlanArgument<kLoops> plan, const __grid_constant__ Addition addition) {
  const std::uint32_t thread = thread_number();
  if (thread < plan.items) add_item<kWidth, kLoops>(plan, addition, thread);
}

template <int kWidth, int kLoops>
cudaError_t fill_apart(const DevicePlan& plan, cudaStream_t stream) {
  const DevicePlan taken = taken_of(plan);
  const std::uint32_t copying = blocks_for(taken.items);
  return launch_blocks(fill_apart_kernel<kWidth, kLoops>, copying + blocks_for(plan.items), stream,
                       argument<kLoops>(plan), argument<kLoops>(taken), copying);
}

template <int kWidth, int kLoops>
cudaError_t fill_parts(const DevicePlan& plan, const FillVariant& variant, cudaStream_t stream) {
  using Share = Shares<kWidth, kLoops>;
  const std::uint32_t parts = variant.parts(plan);
  const auto kernel = variant.grain == Grain::Chunk ? fill_kernel<kWidth, kLoops, Grain::Chunk>
                                                    : fill_kernel<kWidth, kLoops, Grain::Item>;
  return launch_grid(kernel, blocks_for(parts, Share::kThreads * Share::kParts), Share::kThreads, stream,
                     argument<kLoops>(plan), parts);
}

}  // namespace

cudaError_t fill_plan(const DevicePlan& plan, const FillVariant& variant, cudaStream_t stream) {
  if (variant.parts(plan) == 0) return cudaSuccess;
  return with_width_and_count(variant.width, variant.loops, [&]<int kWidth, int kLoops>() {
    if constexpr (kWidth == 16) {
      if (variant.grain == Grain::Apart) return fill_apart<kWidth, kLoops>(plan, stream);
    }
    return fill_parts<kWidth, kLoops>(plan, variant, stream);
  });
}

cudaError_t add_plan(const DevicePlan& plan, const Addition& addition, cudaStream_t stream) {
  return with_width_and_count(plan.width, plan.loops, [&]<int kWidth, int kLoops>() {
    return launch(add_kernel<kWidth, kLoops>, plan.items, stream, argument<kLoops>(plan), addition);
  });
}

}  // namespace backslice::cuda
