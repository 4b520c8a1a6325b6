#include "kernels/cuda/launch.h"
#include "kernels/slice/cuda_kernels.h"

namespace backslice::cuda {
namespace {

__device__ std::uint32_t thread_number() { return blockIdx.x * kBlock + threadIdx.x; }

// How many parts a thread fills, in blocks of how many threads. One each is best where a part is a load and a store;
// where it takes more arithmetic, two in small blocks are 1 to 3 % faster (measured on an H200).
template <int kWidth, int kLoops>
struct Shares {
  static constexpr bool kIsPlain = kWidth == 16 && (kLoops == 1 || kLoops == 2);
  static constexpr unsigned kParts = kIsPlain ? 1 : 2, kThreads = kIsPlain ? kBlock : kBlock / 2;
};

template <int kWidth, int kLoops, Grain kGrain>
__global__ void __launch_bounds__(Shares<kWidth, kLoops>::kThreads)
    fill_kernel(const __grid_constant__ DevicePlan plan, std::uint32_t parts) {
  using Share = Shares<kWidth, kLoops>;
  const std::uint32_t first = blockIdx.x * (Share::kThreads * Share::kParts) + threadIdx.x;
#pragma unroll
  for (unsigned i = 0; i < Share::kParts; ++i) {
    const std::uint32_t part = first + i * Share::kThreads;  // parts are less than 2^31, so that this does not wrap
    if (part < parts) fill_part<kWidth, kLoops, kGrain>(plan, part);
  }
}

template <int kWidth, int kLoops>
__global__ void __launch_bounds__(kBlock)
    add_kernel(const __grid_constant__ DevicePlan plan, const __grid_constant__ Addition addition) {
  const std::uint32_t thread = thread_number();
  if (thread < plan.items) add_item<kWidth, kLoops>(plan, addition, thread);
}

}  // namespace

cudaError_t fill_plan(const DevicePlan& plan, const FillVariant& variant, cudaStream_t stream) {
  const std::uint32_t parts = variant.parts(plan);
  if (parts == 0) return cudaSuccess;
  return with_width_and_count(variant.width, variant.loops, [&]<int kWidth, int kLoops>() {
    using Share = Shares<kWidth, kLoops>;
    constexpr std::uint32_t kPerBlock = Share::kThreads * Share::kParts;
    const auto kernel = variant.grain == Grain::Chunk ? fill_kernel<kWidth, kLoops, Grain::Chunk>
                                                      : fill_kernel<kWidth, kLoops, Grain::Item>;
    return launch_grid(kernel, dim3(parts / kPerBlock + (parts % kPerBlock != 0)), Share::kThreads, stream, plan,
                       parts);
  });
}

cudaError_t add_plan(const DevicePlan& plan, const Addition& addition, cudaStream_t stream) {
  const auto kernel = with_width_and_count(plan.width, plan.loops,
                                           [&]<int kWidth, int kLoops>() { return add_kernel<kWidth, kLoops>; });
  return launch(kernel, plan.items, stream, plan, addition);
}

}  // namespace backslice::cuda
