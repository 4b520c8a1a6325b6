// Copies and sums of segments: one block of threads per tile of the destination.
#include "kernels/concat/cuda_kernels.h"
#include "kernels/concat/device_segments.h"
#include "kernels/cuda/launch.h"

namespace backslice::cuda {
namespace {

template <int kUnit>
__global__ void __launch_bounds__(kSegmentThreads, kUnit >= 4 ? 5 : 3)
    copy_kernel(const __grid_constant__ SegmentTable table, bool writes_zeros) {
  __shared__ KeptSegments kept;
  __shared__ StagedTile tile;
  const auto thread = static_cast<int>(threadIdx.x);
  const TileSegments segments(table, blockIdx.x, kept);
  const bool any_is_long = __syncthreads_or(segments.keep(thread)) != 0;
  if (writes_zeros && segments.are_short(any_is_long)) {
    stage_segments<kUnit>(segments, tile, thread);
    __pipeline_commit();
    __pipeline_wait_prior(0);
    __syncthreads();
    return write_staged<kUnit>(segments, tile, thread);
  }
  copy_vectors<kUnit>(segments, thread, writes_zeros);
}

}  // namespace

cudaError_t copy_segments(const SegmentTable& table, std::int64_t tiles, int unit, bool writes_zeros,
                          cudaStream_t stream) {
  const auto run = [&]<int kUnit>() {
    return launch_grid(copy_kernel<kUnit>, static_cast<unsigned>(tiles), kSegmentThreads, stream, table, writes_zeros);
  };
  switch (unit) {
    case 16: return run.template operator()<16>();
    case 4: return run.template operator()<4>();
    case 2: return run.template operator()<2>();
    case 1: return run.template operator()<1>();
    default: return cudaErrorInvalidValue;
  }
}

// -- Sums: one thread per item of the destination adds its terms in their order.

namespace {

template <int kBytes>
__global__ void __launch_bounds__(kSegmentThreads)
    add_kernel(const __grid_constant__ SegmentTable table, const __grid_constant__ Addition addition,
               SegmentSums sums) {
  __shared__ KeptSegments kept;
  const auto thread = static_cast<int>(threadIdx.x);
  const TileSegments segments(table, blockIdx.x, kept);
  segments.keep(thread);
  __syncthreads();
  sum_items<kBytes>(table, segments, blockIdx.x, addition, sums, thread);
}

}  // namespace

cudaError_t add_segments(const SegmentTable& table, std::int64_t tiles, const Addition& addition, int width,
                         SegmentSums sums, cudaStream_t stream) {
  const auto blocks = static_cast<unsigned>(tiles);
  return visit_width(width, [&]<int kBytes>() {
    return launch_grid(add_kernel<kBytes>, blocks, kSegmentThreads, stream, table, addition, sums);
  });
}

}  // namespace backslice::cuda
