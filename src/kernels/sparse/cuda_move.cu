// Moving and adding rows as was found.
#include "kernels/cuda/launch.h"
#include "kernels/sparse/cuda_kernels.h"

namespace backslice::cuda {
namespace {

template <int kBytes>
__global__ void __launch_bounds__(kChunkThreads)
    move_kernel(const __grid_constant__ RowMove move, const __grid_constant__ Found found, SliceRows rows,
                Moves moves) {
  if (found.header->is_refused != 0) return;
  move_chunks<kBytes>(move, found, rows, moves, blockIdx.x, threadIdx.x);
}

template <int kBytes>
__global__ void __launch_bounds__(kChunkThreads)
    move_single_kernel(const __grid_constant__ RowMove move, const __grid_constant__ Found found, SliceRows rows,
                       Moves moves) {
  if (found.header->is_refused != 0) return;
  move_single_chunks<kBytes>(move, found, rows, moves, blockIdx.x, threadIdx.x);
}

template <int kBytes>
__global__ void __launch_bounds__(kChunkThreads)
    move_dense_kernel(const __grid_constant__ RowMove move, const __grid_constant__ Found found, SliceRows rows) {
  if (found.header->is_refused != 0) return;
  move_dense<kBytes>(move, found, rows, blockIdx.x, threadIdx.x);
}

template <class Read, class Index>
__global__ void __launch_bounds__(kChunkThreads)
    indices_kernel(const __grid_constant__ Lists lists, const __grid_constant__ Found found, SliceRows rows,
                   IndexMatrix to) {
  if (found.header->is_refused != 0) return;
  write_slice_indices<Read, Index>(lists, found, rows, to, blockIdx.x, threadIdx.x);
}

}  // namespace

cudaError_t move_rows(const RowMove& move, const Found& found, SliceRows rows, Moves moves, cudaStream_t stream) {
  const unsigned blocks = blocks_for_chunks(rows.input, move.chunks);
  if (blocks == 0) return cudaSuccess;
  const MoveVariant& variant = move_variant(move, found, moves);
  return visit_width(variant.width, [&]<int kBytes>() {
    if constexpr (kBytes == 2 || kBytes == 4 || kBytes == 8) {
      if (variant.way == MoveWay::Dense) {
        return launch_grid(move_dense_kernel<kBytes>, blocks_for_dense(rows.input, kBytes), kChunkThreads, stream, move,
                           found, rows);
      }
    }
    const auto kernel = variant.way == MoveWay::Single ? move_single_kernel<kBytes> : move_kernel<kBytes>;
    return launch_grid(kernel, blocks, kChunkThreads, stream, move, found, rows, moves);
  });
}

cudaError_t write_indices(const Lists& lists, const Found& found, SliceRows rows, const IndexMatrix& to,
                          cudaStream_t stream) {
  const unsigned blocks = blocks_for_chunks(rows.input, lists.input.rank);
  if (blocks == 0) return cudaSuccess;
  const bool is_narrow = lists.kind == IndexKind::Int32 || lists.kind == IndexKind::UnalignedInt32;
  return visit_reads(lists.kind, [&]<class Read>() {
    const auto run = is_narrow ? indices_kernel<Read, std::uint32_t> : indices_kernel<Read, std::uint64_t>;
    return launch_grid(run, blocks, kChunkThreads, stream, lists, found, rows, to);
  });
}

// -- Adding rows

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
