// Finds the rows of a slice, and moves them. One pass over the indices counts the rows in a box, tile by tile; a second
// pass checks them. Tiles do not wait for each other: that was slower than a kernel between the two passes that sums
// the counts.
#include "kernels/cuda/launch.h"
#include "kernels/sparse/cuda_kernels.h"
#include "kernels/sparse/device_find.h"
#include "kernels/sparse/device_walk.h"

namespace backslice::cuda {
namespace {

constexpr int kThreads = kFindThreads, kWarps = kFindWarps;
constexpr unsigned kAllLanes = 0xffffffffu;

__global__ void begin_kernel(FoundHeader* header, const __grid_constant__ IndexBounds box) {
  header->box.low[threadIdx.x] = box.low[threadIdx.x];
  header->box.high[threadIdx.x] = box.high[threadIdx.x];
  if (threadIdx.x != 0) return;
  header->found = header->used = header->expected = 0;
  header->has_parted = header->is_refused = 0;
}

template <class Int>
__device__ Int sum_up_to_lane(Int value) {
  for (int lanes = 1; lanes < 32; lanes *= 2) {
    const Int other = __shfl_up_sync(kAllLanes, value, lanes);
    if (static_cast<int>(threadIdx.x) % 32 >= lanes) value += other;
  }
  return value;
}

// As many blocks as run at once, each with rows from all over the list.
constexpr int kBoundBlocks = 4;

template <class Read>
__global__ void __launch_bounds__(kThreads, kBoundBlocks)
    bound_kernel(const __grid_constant__ IndexList list, FoundHeader* header) {
  const int first_axis = bound_axis<Read>(list, blockIdx.y);
  ColumnBounds bounds[kBoundColumns];
  const std::int64_t step = std::int64_t{gridDim.x} * kThreads;
  bound_rows<Read>(list, first_axis, std::int64_t{blockIdx.x} * kThreads + threadIdx.x, step, bounds);
  __shared__ std::int64_t lows[kWarps][kBoundColumns], highs[kWarps][kBoundColumns];
  for (int a = 0; a < kBoundColumns; ++a) {
    for (int lanes = 16; lanes > 0; lanes /= 2) {
      bounds[a].low = smaller(bounds[a].low, __shfl_xor_sync(kAllLanes, bounds[a].low, lanes));
      bounds[a].high = larger(bounds[a].high, __shfl_xor_sync(kAllLanes, bounds[a].high, lanes));
    }
    if (threadIdx.x % 32 == 0) lows[threadIdx.x / 32][a] = bounds[a].low, highs[threadIdx.x / 32][a] = bounds[a].high;
  }
  __syncthreads();
  const int axis = first_axis + static_cast<int>(threadIdx.x);
  if (threadIdx.x >= kBoundColumns || axis >= list.rank) return;
  std::int64_t least = kLargest, most = kSmallest;
  for (int warp = 0; warp < kWarps; ++warp) {
    least = smaller(least, lows[warp][threadIdx.x]);
    most = larger(most, highs[warp][threadIdx.x]);
  }
  atomicMin(reinterpret_cast<long long*>(&header->box.low[axis]), static_cast<long long>(least));
  atomicMax(reinterpret_cast<long long*>(&header->box.high[axis]), static_cast<long long>(most));
}

// Called by one warp. Returns the total to the last lane.
__device__ int count_words(TileWords& shared) {
  const int lane = static_cast<int>(threadIdx.x) % 32, own = count_lane(shared, lane), up_to = sum_up_to_lane(own);
  number_lane(shared, lane, up_to - own);
  return up_to;
}

// Finds the rows of a tile that are in the box.
template <class Read>
__global__ void __launch_bounds__(kThreads, 6)
    find_kernel(const __grid_constant__ Lists lists, const __grid_constant__ Found found) {
  __shared__ TileWords shared;
  const std::int64_t tile = blockIdx.x;
  const TileRows<Read> rows(lists, found.header->box, tile, threadIdx.x);
  const int warp = static_cast<int>(threadIdx.x) / 32, lane = static_cast<int>(threadIdx.x) % 32;
  const unsigned inside = rows.inside();
  for (int k = 0; k < kRowsPerThread; ++k) {
    const unsigned word = __ballot_sync(kAllLanes, inside >> k & 1);
    if (lane == 0) shared.words[word_of(k, warp)] = word;
  }
  __syncthreads();
  if (warp == 0) {
    const int all = count_words(shared);
    if (lane == 31) found.counts[tile] = all;
  }
  __syncthreads();
  if (threadIdx.x >= kTileWords) return;
  found.words[tile * kTileWords + threadIdx.x] = shared.words[threadIdx.x];
  found.before[tile * kTileWords + threadIdx.x] = shared.before[threadIdx.x];
}

constexpr int kSumThreads = 1024, kSumItems = 8;

// Called by one block: returns the sum of a value over the threads before this one; `all` becomes the sum over all
// threads.
__device__ std::int64_t sum_before(std::int64_t value, std::int64_t& all) {
  __shared__ std::int64_t warps[kSumThreads / 32];
  const int warp = static_cast<int>(threadIdx.x) / 32, lane = static_cast<int>(threadIdx.x) % 32;
  const std::int64_t up_to = sum_up_to_lane(value);
  __syncthreads();  // the old contents have been read
  if (lane == 31) warps[warp] = up_to;
  __syncthreads();
  const std::int64_t warps_up_to = sum_up_to_lane(warps[lane]);
  all = __shfl_sync(kAllLanes, warps_up_to, 31);
  const std::int64_t own_warp = __shfl_sync(kAllLanes, warps_up_to, warp);
  return own_warp - warps[warp] + up_to - value;
}

// Computes the first slice row of each tile, from the counts of the tiles before it.
__global__ void __launch_bounds__(kSumThreads) sum_kernel(const __grid_constant__ Found found, std::int64_t tiles) {
  std::int64_t before = 0;
  for (std::int64_t begin = 0; begin < tiles; begin += kSumThreads * kSumItems) {
    const std::int64_t first = begin + std::int64_t{threadIdx.x} * kSumItems;
    std::int32_t counts[kSumItems];
    std::int64_t own = 0, all;
#pragma unroll
    for (int i = 0; i < kSumItems; ++i) counts[i] = first + i < tiles ? found.counts[first + i] : 0;
    for (std::int32_t count : counts) own += count;
    std::int64_t next = before + sum_before(own, all);
#pragma unroll
    for (int i = 0; i < kSumItems; ++i) {
      if (first + i < tiles) found.first[first + i] = next;
      next += counts[i];
    }
    before += all;
  }
  if (threadIdx.x == 0) found.header->found = before;
}

// Checks that the found rows are the rows of the slice, one by one.
template <class Read>
__global__ void __launch_bounds__(kThreads, 4)
    check_kernel(const __grid_constant__ Lists lists, const __grid_constant__ Found found) {
  __shared__ std::uint32_t words[kTileWords];
  __shared__ std::int64_t first[kTileWords];
  const std::int64_t tile = blockIdx.x;
  if (threadIdx.x < kTileWords) {
    words[threadIdx.x] = found.words[tile * kTileWords + threadIdx.x];
    first[threadIdx.x] = found.first_of(tile * kTileWords + threadIdx.x);
  }
  __syncthreads();
  const TileRows<Read> rows(lists, found.header->box, tile, threadIdx.x);
  const int warp = static_cast<int>(threadIdx.x) / 32, lane = static_cast<int>(threadIdx.x) % 32;
  const auto slice_row = [&](int k) {
    const std::int64_t row = slice_row_of(words[word_of(k, warp)], lane, first[word_of(k, warp)]);
    return row < lists.output.rows ? row : kNoSliceRow;
  };
  if (rows.have_parted(slice_row)) found.header->has_parted = 1;
}

__global__ void finish_kernel(FoundHeader* header, std::int64_t expected, std::int64_t slice_rows,
                              DeviceStatus* status) {
  finish_header(*header, expected, slice_rows, status);
}

}  // namespace

cudaError_t begin_finding(const Found& found, const IndexBounds* box, cudaStream_t stream) {
  IndexBounds bounds;
  for (int axis = 0; axis < kMaxColumns; ++axis) {
    bounds.low[axis] = box != nullptr ? box->low[axis] : kLargest;
    bounds.high[axis] = box != nullptr ? box->high[axis] : kSmallest;
  }
  return launch_grid(begin_kernel, 1, kMaxColumns, stream, found.header, bounds);
}

cudaError_t bound(const Found& found, const Lists& lists, cudaStream_t stream) {
  if (lists.output.rows == 0 || lists.output.rank == 0) return cudaSuccess;
  constexpr std::int64_t kMostBlocks = kMultiprocessors * kBoundBlocks, kBlockRows = kThreads * kRowsAtOnce;
  const std::int64_t blocks = (lists.output.rows + kBlockRows - 1) / kBlockRows;
  const dim3 grid(static_cast<unsigned>(blocks < kMostBlocks ? blocks : kMostBlocks),
                  static_cast<unsigned>((lists.output.rank + kBoundColumns - 1) / kBoundColumns));
  return visit_pair_reads(lists, [&]<class Read>() {
    return launch_grid(bound_kernel<Read>, grid, kThreads, stream, lists.output, found.header);
  });
}

cudaError_t find_in_box(const Found& found, const Lists& lists, bool check, cudaStream_t stream) {
  const std::int64_t tiles = Found::tiles(lists.input.rows);
  if (tiles == 0) return cudaSuccess;
  const auto blocks = static_cast<unsigned>(tiles);
  return visit_pair_reads(lists, [&]<class Read>() {
    cudaError_t failed = launch_grid(find_kernel<Read>, blocks, kThreads, stream, lists, found);
    if (failed == cudaSuccess) failed = launch_grid(sum_kernel, 1, kSumThreads, stream, found, tiles);
    if (failed != cudaSuccess || !check) return failed;
    return launch_grid(check_kernel<Read>, blocks, kThreads, stream, lists, found);
  });
}

cudaError_t finish_finding(const Found& found, std::int64_t expected, std::int64_t slice_rows, DeviceStatus* status,
                           cudaStream_t stream) {
  return launch_grid(finish_kernel, 1, 1, stream, found.header, expected, slice_rows, status);
}

// -- Walking both lists, if the rows in a box are not the slice's.

namespace {

template <class Read>
__global__ void __launch_bounds__(kWalkThreads)
    walk_kernel(const __grid_constant__ Lists lists, const __grid_constant__ Found found) {
  if (found.header->has_parted == 0) return;
  __shared__ Staged staged;
  walk_rows<Read>(lists, found, staged);
}

}  // namespace

cudaError_t walk_if_parted(const Found& found, const Lists& lists, cudaStream_t stream) {
  if (lists.input.rows == 0) return cudaSuccess;
  return visit_reads(
      lists.kind, [&]<class Read>() { return launch_grid(walk_kernel<Read>, 1, kWalkThreads, stream, lists, found); });
}

// -- Moving and adding the found rows

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
