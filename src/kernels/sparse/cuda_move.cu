// Moving rows as was found: one thread per chunk of a row.
#include "kernels/sparse/cuda_chunks.cuh"

namespace backslice::cuda {
namespace {

template <int kBytes>
__global__ void __launch_bounds__(kChunkThreads)
    move_kernel(const __grid_constant__ RowMove move, const __grid_constant__ Found found, SliceRows rows,
                Moves moves) {
  if (found.header->is_refused != 0) return;
  for_each_chunk(found, rows, move.chunks, [&](std::int64_t row, std::int64_t slice_row, std::int64_t chunk) {
    const bool is_found = slice_row != kNoSliceRow;
    if (!is_found && moves != Moves::RowsAndZeros) return;
    const ChunkPlace place = move.place(chunk);
    const std::int64_t to_row = moves == Moves::ToSlice ? slice_row : row;
    const std::int64_t from_row = moves == Moves::ToSlice ? row : slice_row;
    Item<kBytes> item{};
    if (is_found) item = load<kBytes>(move.from + from_row * move.from_row + place.from);
    store<kBytes>(move.to + to_row * move.to_row + place.to, item);
  });
}

// The same for rows of one chunk: a thread reads all it needs for several rows before it writes the first.
template <int kBytes>
__global__ void __launch_bounds__(kChunkThreads)
    move_single_kernel(const __grid_constant__ RowMove move, const __grid_constant__ Found found, SliceRows rows,
                       Moves moves) {
  if (found.header->is_refused != 0) return;
  const std::int64_t first = std::int64_t{blockIdx.x} * kChunkThreads * kChunksPerThread + threadIdx.x;
  std::int64_t slice_row[kChunksPerThread];
  Item<kBytes> items[kChunksPerThread];
#pragma unroll
  for (int k = 0; k < kChunksPerThread; ++k) {
    const std::int64_t row = first + k * kChunkThreads;
    slice_row[k] = row < rows.input ? slice_row_at(found, row) : kNoSliceRow;
  }
#pragma unroll
  for (int k = 0; k < kChunksPerThread; ++k) {
    if (slice_row[k] >= rows.slice) slice_row[k] = kNoSliceRow;
    const std::int64_t from = moves == Moves::ToSlice ? first + k * kChunkThreads : slice_row[k];
    items[k] = {};
    if (slice_row[k] != kNoSliceRow) items[k] = load<kBytes>(move.from + from * move.from_row);
  }
#pragma unroll
  for (int k = 0; k < kChunksPerThread; ++k) {
    const std::int64_t row = first + k * kChunkThreads, to = moves == Moves::ToSlice ? slice_row[k] : row;
    const bool writes = slice_row[k] != kNoSliceRow || (moves == Moves::RowsAndZeros && row < rows.input);
    if (writes) store<kBytes>(move.to + to * move.to_row, items[k]);
  }
}

// The same for dense rows of a few bytes, with zeros between them: a thread writes sixteen bytes of them at once.
template <int kBytes>
__global__ void __launch_bounds__(kChunkThreads)
    move_dense_kernel(const __grid_constant__ RowMove move, const __grid_constant__ Found found, SliceRows rows) {
  if (found.header->is_refused != 0) return;
  constexpr int kRows = 16 / kBytes, kVectors = 4;
  const std::int64_t first = (std::int64_t{blockIdx.x} * kChunkThreads * kVectors + threadIdx.x) * kRows;
  std::uint32_t bits[kVectors];
  const std::byte* from[kVectors];
#pragma unroll
  for (int v = 0; v < kVectors; ++v) {  // none of them crosses a word
    const std::int64_t row = first + v * kChunkThreads * kRows;
    bits[v] = 0;
    if (row >= rows.input) continue;
    const std::int64_t word = row / kWordRows32;
    const int bit = static_cast<int>(row % kWordRows32);
    const std::uint32_t all = found.words[word];
    const std::int64_t next = found.first_of(word) + count_bits(all & ((std::uint32_t{1} << bit) - 1));
    bits[v] = all >> bit & ((std::uint32_t{1} << kRows) - 1);
    while (bits[v] != 0 && next + count_bits(bits[v]) > rows.slice)
      bits[v] &= ~(std::uint32_t{1} << (31 - __clz(static_cast<int>(bits[v]))));
    from[v] = move.from + next * move.from_row;
  }
  Vector vectors[kVectors];
#pragma unroll
  for (int v = 0; v < kVectors; ++v) {
#pragma unroll
    for (int k = 0; k < kRows; ++k) {
      if ((bits[v] >> k & 1) == 0) continue;
      put<kBytes>(vectors[v], static_cast<unsigned>(k), load<kBytes>(from[v]));
      from[v] += move.from_row;
    }
  }
#pragma unroll
  for (int v = 0; v < kVectors; ++v) {
    const std::int64_t row = first + v * kChunkThreads * kRows;
    if (row + kRows <= rows.input) {
      store<16>(move.to + row * kBytes, vectors[v]);
      continue;
    }
    const auto* items = reinterpret_cast<const Item<kBytes>*>(&vectors[v]);
#pragma unroll
    for (int k = 0; k < kRows; ++k) {
      if (row + k < rows.input) store<kBytes>(move.to + (row + k) * kBytes, items[k]);
    }
  }
}

bool is_dense(const RowMove& move, const Found& found, Moves moves) {
  return found.joined == nullptr && moves == Moves::RowsAndZeros && move.chunks == 1 && move.to_row == move.width &&
         address(move.to) % 16 == 0;
}

template <int kBytes>
cudaError_t move_dense(const RowMove& move, const Found& found, SliceRows rows, cudaStream_t stream) {
  constexpr std::int64_t kPerBlock = kChunkThreads * 4 * (16 / kBytes);
  const auto blocks = static_cast<unsigned>((rows.input + kPerBlock - 1) / kPerBlock);
  return launch_grid(move_dense_kernel<kBytes>, blocks, kChunkThreads, stream, move, found, rows);
}

template <class Index>
__device__ void store_index(std::byte* to, Index index) {
  if (reinterpret_cast<std::uintptr_t>(to) % sizeof(Index) == 0) {
    *reinterpret_cast<Index*>(to) = index;
    return;
  }
  for (unsigned i = 0; i < sizeof(Index); ++i) to[i] = static_cast<std::byte>(index >> (8 * i));
}

// The indices of the slice: those of the input less start. Unsigned, so that nothing overflows.
template <class Read, class Index>
__global__ void __launch_bounds__(kChunkThreads)
    indices_kernel(const __grid_constant__ Lists lists, const __grid_constant__ Found found, SliceRows rows,
                   IndexMatrix to) {
  if (found.header->is_refused != 0) return;
  for_each_chunk(found, rows, lists.input.rank, [&](std::int64_t row, std::int64_t slice_row, std::int64_t axis) {
    if (slice_row == kNoSliceRow) return;
    const auto column = static_cast<int>(axis);
    const auto index = static_cast<std::uint64_t>(index_at<Read>(lists.input, row, column)) -
                       static_cast<std::uint64_t>(lists.start.of[column]);
    store_index(to.data + slice_row * to.row_stride + axis * to.column_stride, static_cast<Index>(index));
  });
}

}  // namespace

cudaError_t move_rows(const RowMove& move, const Found& found, SliceRows rows, Moves moves, cudaStream_t stream) {
  const unsigned blocks = blocks_for_chunks(rows.input, move.chunks);
  if (blocks == 0) return cudaSuccess;
  if (is_dense(move, found, moves)) {
    switch (move.width) {
      case 2: return move_dense<2>(move, found, rows, stream);
      case 4: return move_dense<4>(move, found, rows, stream);
      case 8: return move_dense<8>(move, found, rows, stream);
      default: break;
    }
  }
  return visit_width(move.width, [&]<int kBytes>() {
    const auto kernel = move.chunks == 1 ? move_single_kernel<kBytes> : move_kernel<kBytes>;
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

}  // namespace backslice::cuda
