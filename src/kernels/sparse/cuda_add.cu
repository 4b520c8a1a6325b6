// Adding rows as was found.
#include "kernels/cuda/launch.h"
#include "kernels/sparse/cuda_move.h"

namespace backslice::cuda {
namespace {

template <int kBytes>
__global__ void __launch_bounds__(kChunkThreads)
    add_kernel(const __grid_constant__ RowMove move, const __grid_constant__ Found found, SliceRows rows,
               const __grid_constant__ Addition addition) {
  if (found.header->is_refused != 0) return;
  add_chunks<kBytes>(move, found, rows, addition, blockIdx.x, threadIdx.x);
}

}  // namespace

cudaError_t add_rows(const RowMove& move, const Found& found, SliceRows rows, const Addition& addition,
                     cudaStream_t stream) {
  const unsigned blocks = blocks_for_chunks(rows.input, move.chunks);
  if (blocks == 0) return cudaSuccess;
  return visit_width(move.width, [&]<int kBytes>() {
    return launch_grid(add_kernel<kBytes>, blocks, kChunkThreads, stream, move, found, rows, addition);
  });
}

}  // namespace backslice::cuda
