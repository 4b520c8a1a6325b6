// Adding rows as was found.
#include "kernels/cuda/unaligned.h"
#include "kernels/sparse/cuda_chunks.cuh"

namespace backslice::cuda {
namespace {

template <int kBytes>
__global__ void __launch_bounds__(kChunkThreads)
    add_kernel(const __grid_constant__ RowMove move, const __grid_constant__ Found found, SliceRows rows,
               const __grid_constant__ Addition addition) {
  if (found.header->is_refused != 0) return;
  for_each_chunk(found, rows, move.chunks, [&](std::int64_t row, std::int64_t slice_row, std::int64_t chunk) {
    if (slice_row == kNoSliceRow) return;
    const ChunkPlace place = move.place(chunk);
    std::byte* to = move.to + row * move.to_row + place.to;
    const std::byte* from = move.from + slice_row * move.from_row + place.from;
    const Item<kBytes> before = load_item<kBytes>(to, move.is_aligned), term = load_item<kBytes>(from, move.is_aligned);
    store_item<kBytes>(to, sums_of<kBytes>(addition, before, term), move.is_aligned);
  });
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
