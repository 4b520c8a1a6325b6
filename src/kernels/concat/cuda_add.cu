// Sums of segments: one thread per item of the destination, its terms added in their order.
#include "kernels/concat/cuda_copy.h"
#include "kernels/concat/device_sums.h"
#include "kernels/cuda/launch.h"

namespace backslice::cuda {
namespace {

template <int kBytes>
__global__ void __launch_bounds__(kSegmentThreads)
    add_kernel(const __grid_constant__ SegmentTable table, const __grid_constant__ Addition addition, bool is_aligned,
               SegmentSums sums) {
  __shared__ KeptSegments kept;
  const auto thread = static_cast<int>(threadIdx.x);
  const TileSegments segments(table, blockIdx.x, kept);
  segments.keep(thread);
  __syncthreads();
  sum_items<kBytes>(table, segments, blockIdx.x, addition, is_aligned, sums, thread);
}

}  // namespace

cudaError_t add_segments(const SegmentTable& table, std::int64_t tiles, const Addition& addition, int width,
                         bool is_aligned, SegmentSums sums, cudaStream_t stream) {
  const auto blocks = static_cast<unsigned>(tiles);
  return visit_width(width, [&]<int kBytes>() {
    return launch_grid(add_kernel<kBytes>, blocks, kSegmentThreads, stream, table, addition, is_aligned, sums);
  });
}

}  // namespace backslice::cuda
