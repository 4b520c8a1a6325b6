#include "kernels/cuda/launch.h"
#include "kernels/tiles/cuda_kernels.h"

namespace backslice::cuda {
namespace {

template <int kWidth, int kRank>
__global__ void __launch_bounds__(kBlock) sum_kernel(const __grid_constant__ DeviceTiles tiles) {
  const std::uint32_t unit = blockIdx.x * kBlock + threadIdx.x;
  if (unit < tiles.units) sum_unit<kWidth, kRank>(tiles, unit);
}

static_assert(kBlock == 1u << kRowShift);

// A block writes kBlock units of one row.
template <int kWidth, int kRank, bool kAdds>
__global__ void __launch_bounds__(kBlock)
    row_kernel(const __grid_constant__ DeviceTiles tiles, const __grid_constant__ FastDivisor blocks_per_row) {
  __shared__ RowPart parts[kMostInCell];
  __shared__ std::uint32_t count;
  const std::uint32_t row = blocks_per_row.quotient(blockIdx.x);
  const FastDivisor& extent = tiles.axis[rank_of<kRank>(tiles) - 1].extent;
  const std::uint32_t first = row * extent.divisor, run = (blockIdx.x - row * blocks_per_row.divisor) * kBlock;
  if (threadIdx.x < 32) {  // one warp searches, the others wait
    const std::uint32_t cell = cell_of(tiles.cells, first + run);
    const std::uint32_t begin = tiles.first_of_cell[cell], end = tiles.first_of_cell[cell + 1];
    for (std::uint32_t i = begin + threadIdx.x; i < end; i += 32) parts[i - begin] = row_part<kRank>(tiles, i, first);
    if (threadIdx.x == 0) count = end - begin;
  }
  __syncthreads();
  const std::uint32_t position = run + threadIdx.x;
  if (position < extent.divisor) sum_in_row<kWidth, kRank, kAdds>(tiles, parts, count, first + position, position);
}

}  // namespace

cudaError_t sum_tiles(const DeviceTiles& tiles, const TileVariant& variant, cudaStream_t stream) {
  return with_width_and_count(variant.width, variant.rank, [&]<int kWidth, int kRank>() {
    if (variant.way == TileWay::Units) return launch(sum_kernel<kWidth, kRank>, tiles.units, stream, tiles);
    const std::uint32_t extent = tiles.axis[tiles.rank - 1].extent.divisor, blocks = blocks_for(extent);
    const auto kernel =
        variant.way == TileWay::Rows ? row_kernel<kWidth, kRank, true> : row_kernel<kWidth, kRank, false>;
    return launch_blocks(kernel, tiles.units / extent * blocks, stream, tiles, FastDivisor(blocks));
  });
}

}  // namespace backslice::cuda
