// Finding the rows of a slice: one pass over the indices counts those in a box, tile by tile, a second checks them.
// Tiles do not wait for each other: blocks that did were slower than a kernel between the two that adds up the counts.
#include "kernels/sparse/cuda_read.cuh"

namespace backslice::cuda {
namespace {

constexpr int kThreads = 256, kWarps = kThreads / 32;
constexpr int kRowsPerThread = kTileRows / kThreads, kLaneWords = kTileWords / 32;
constexpr unsigned kAllLanes = 0xffffffffu;
constexpr std::int64_t kLargest = 0x7fffffffffffffff, kSmallest = -kLargest - 1;

constexpr std::int64_t rounded_up(std::int64_t bytes) { return (bytes + 63) / 64 * 64; }

__global__ void begin_kernel(FoundHeader* header, const __grid_constant__ IndexBounds box) {
  header->box.low[threadIdx.x] = box.low[threadIdx.x];
  header->box.high[threadIdx.x] = box.high[threadIdx.x];
  if (threadIdx.x != 0) return;
  header->found = header->used = 0;
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

__device__ std::int64_t smaller(std::int64_t a, std::int64_t b) { return a < b ? a : b; }
__device__ std::int64_t larger(std::int64_t a, std::int64_t b) { return a > b ? a : b; }

// The bounds of two pairs of columns: as many as registers hold, and as many int64 as a sector of memory has.
constexpr int kPairs = 2, kColumns = 2 * kPairs, kRowsAtOnce = 4;

struct Bounds {
  std::int64_t low = kLargest, high = kSmallest;

  __device__ void take(std::int64_t index) {
    low = smaller(low, index);
    high = larger(high, index);
  }
};

// As many blocks as are at work at once, each with rows from all over the list.
constexpr int kBoundBlocks = 4;

template <class Read>
__global__ void __launch_bounds__(kThreads, kBoundBlocks)
    bound_kernel(const __grid_constant__ IndexList list, FoundHeader* header) {
  const int rank = rank_of<Read>(list), first_axis = rank <= kColumns ? 0 : static_cast<int>(blockIdx.y) * kColumns;
  Bounds bounds[kColumns];
  const std::int64_t step = std::int64_t{gridDim.x} * kThreads;
  for (std::int64_t row = std::int64_t{blockIdx.x} * kThreads + threadIdx.x; row < list.rows;
       row += kRowsAtOnce * step) {
    IndexPair pairs[kPairs][kRowsAtOnce];
#pragma unroll
    for (int p = 0; p < kPairs; ++p) {
#pragma unroll
      for (int k = 0; k < kRowsAtOnce; ++k) {  // past the end, the first of them again
        const std::int64_t at = row + k * step < list.rows ? row + k * step : row;
        if (first_axis + 2 * p < rank) pairs[p][k] = pair_at<Read>(list, at, first_axis + 2 * p);
      }
    }
#pragma unroll
    for (int p = 0; p < kPairs; ++p) {
      if (first_axis + 2 * p >= rank) break;
#pragma unroll
      for (int k = 0; k < kRowsAtOnce; ++k) {
        bounds[2 * p].take(pairs[p][k].first);
        bounds[2 * p + 1].take(pairs[p][k].second);
      }
    }
  }
  __shared__ std::int64_t lows[kWarps][kColumns], highs[kWarps][kColumns];
  for (int a = 0; a < kColumns; ++a) {
    for (int lanes = 16; lanes > 0; lanes /= 2) {
      bounds[a].low = smaller(bounds[a].low, __shfl_xor_sync(kAllLanes, bounds[a].low, lanes));
      bounds[a].high = larger(bounds[a].high, __shfl_xor_sync(kAllLanes, bounds[a].high, lanes));
    }
    if (threadIdx.x % 32 == 0) lows[threadIdx.x / 32][a] = bounds[a].low, highs[threadIdx.x / 32][a] = bounds[a].high;
  }
  __syncthreads();
  const int axis = first_axis + static_cast<int>(threadIdx.x);
  if (threadIdx.x >= kColumns || axis >= list.rank) return;
  std::int64_t least = kLargest, most = kSmallest;
  for (int warp = 0; warp < kWarps; ++warp) {
    least = smaller(least, lows[warp][threadIdx.x]);
    most = larger(most, highs[warp][threadIdx.x]);
  }
  atomicMin(reinterpret_cast<long long*>(&header->box.low[axis]), static_cast<long long>(least));
  atomicMax(reinterpret_cast<long long*>(&header->box.high[axis]), static_cast<long long>(most));
}

// Of a tile: the words of found rows, and how many were found in it before each word.
struct TileWords {
  std::uint32_t words[kTileWords];
  std::int32_t before[kTileWords];
};

// By one warp, each lane of which has some words that follow each other. Returns the number of all to the last lane.
__device__ int count_words(TileWords& shared) {
  const int lane = static_cast<int>(threadIdx.x) % 32;
  int own[kLaneWords], sum = 0;
  for (int w = 0; w < kLaneWords; ++w) sum += own[w] = __popc(shared.words[lane * kLaneWords + w]);
  const int up_to = sum_up_to_lane(sum);
  int next = up_to - sum;
  for (int w = 0; w < kLaneWords; ++w) {
    shared.before[lane * kLaneWords + w] = next;
    next += own[w];
  }
  return up_to;
}

constexpr int kHalf = kRowsPerThread / 2;  // rows of which registers hold both indices and what they must be

// This thread's rows of a tile, row k of them at bit k of a mask. What lies on two columns is read at once, and of
// several rows before any is looked at, so that many loads are under way.
template <class Read>
class TileRows {
 public:
  __device__ TileRows(const Lists& lists, const IndexBounds& box, std::int64_t tile)
      : lists_(lists), box_(box), first_(tile * kTileRows + threadIdx.x) {}

  __device__ unsigned existing() const {
    unsigned rows = 0;
    for (int k = 0; k < kRowsPerThread; ++k) rows |= static_cast<unsigned>(at(k) < lists_.input.rows) << k;
    return rows;
  }

  // The coordinates of those in `rows`; returns which of them are not outside the box.
  __device__ unsigned read(int axis, unsigned rows, IndexPair (&pairs)[kRowsPerThread]) const {
#pragma unroll
    for (int k = 0; k < kRowsPerThread; ++k) {
      if (rows >> k & 1) pairs[k] = pair_at<Read>(lists_.input, at(k), axis);
    }
#pragma unroll
    for (int k = 0; k < kRowsPerThread; ++k) {
      bool inside = is_in_box(pairs[k].first, axis);
      if (axis + 1 < rank_of<Read>(lists_.input)) inside &= is_in_box(pairs[k].second, axis + 1);
      if (!inside) rows &= ~(1u << k);
    }
    return rows;
  }

  // Whether rows begin, begin + 1, ..., kHalf of them, differ from the rows of the slice that they must be, if any.
  template <class SliceRow>
  __device__ bool differ(int axis, int begin, const SliceRow& slice_row) const {
    IndexPair found[kHalf] = {}, expected[kHalf] = {};
#pragma unroll
    for (int k = 0; k < kHalf; ++k) {
      const std::int64_t row = slice_row(begin + k);
      if (row == kNoSliceRow) continue;
      found[k] = pair_at<Read>(lists_.input, at(begin + k), axis);
      expected[k] = pair_at<Read>(lists_.output, row, axis);
    }
    bool any = false;
#pragma unroll
    for (int k = 0; k < kHalf; ++k) {
      if (slice_row(begin + k) == kNoSliceRow) continue;
      any |= !is_coordinate(found[k].first, axis, expected[k].first);
      if (axis + 1 < rank_of<Read>(lists_.input)) any |= !is_coordinate(found[k].second, axis + 1, expected[k].second);
    }
    return any;
  }

 private:
  __device__ std::int64_t at(int k) const { return first_ + k * kThreads; }
  __device__ bool is_coordinate(std::int64_t index, int axis, std::int64_t coordinate) const {
    return is_within(index, lists_.start.of[axis], coordinate, coordinate);
  }
  __device__ bool is_in_box(std::int64_t& index, int axis) const {
    return is_within(index, lists_.start.of[axis], box_.low[axis], box_.high[axis]);
  }

  const Lists& lists_;
  const IndexBounds& box_;
  std::int64_t first_;
};

// Which rows of a tile are in the box.
template <class Read>
__global__ void __launch_bounds__(kThreads, 6)
    find_kernel(const __grid_constant__ Lists lists, const __grid_constant__ Found found) {
  __shared__ TileWords shared;
  const std::int64_t tile = blockIdx.x;
  const TileRows<Read> rows(lists, found.header->box, tile);
  const int warp = static_cast<int>(threadIdx.x) / 32, lane = static_cast<int>(threadIdx.x) % 32;
  unsigned inside = rows.existing();
  for (int axis = 0; axis < rank_of<Read>(lists.input); axis += 2) {
    IndexPair pairs[kRowsPerThread] = {};
    inside = rows.read(axis, inside, pairs);
  }
  for (int k = 0; k < kRowsPerThread; ++k) {
    const unsigned word = __ballot_sync(kAllLanes, inside >> k & 1);
    if (lane == 0) shared.words[k * kWarps + warp] = word;
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

// By one block: the sum of a value over the threads before this one; `all` becomes the sum over all of them.
__device__ std::int64_t sum_before(std::int64_t value, std::int64_t& all) {
  __shared__ std::int64_t warps[kSumThreads / 32];
  const int warp = static_cast<int>(threadIdx.x) / 32, lane = static_cast<int>(threadIdx.x) % 32;
  const std::int64_t up_to = sum_up_to_lane(value);
  __syncthreads();  // what was there has been read
  if (lane == 31) warps[warp] = up_to;
  __syncthreads();
  const std::int64_t warps_up_to = sum_up_to_lane(warps[lane]);
  all = __shfl_sync(kAllLanes, warps_up_to, 31);
  const std::int64_t own_warp = __shfl_sync(kAllLanes, warps_up_to, warp);
  return own_warp - warps[warp] + up_to - value;
}

// The first slice row of each tile, from the counts of those before it.
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

// Whether the rows that were found are the rows of the slice, one by one.
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
  const TileRows<Read> rows(lists, found.header->box, tile);
  const int warp = static_cast<int>(threadIdx.x) / 32, lane = static_cast<int>(threadIdx.x) % 32;
  const auto slice_row = [&](int k) {
    const std::int64_t row = slice_row_of(words[k * kWarps + warp], lane, first[k * kWarps + warp]);
    return row < lists.output.rows ? row : kNoSliceRow;
  };
  bool parted = false;
  for (int axis = 0; axis < rank_of<Read>(lists.input); axis += 2) {
#pragma unroll
    for (int begin = 0; begin < kRowsPerThread; begin += kHalf) parted |= rows.differ(axis, begin, slice_row);
  }
  if (parted) found.header->has_parted = 1;
}

// Where they have parted, the walk has told how many were used.
__global__ void finish_kernel(FoundHeader* header, std::int64_t expected, std::int64_t slice_rows,
                              DeviceStatus* status) {
  if (header->has_parted == 0) header->used = header->found < slice_rows ? header->found : slice_rows;
  header->expected = expected < 0 ? header->used : expected;
  header->is_refused = header->used != header->expected;
  if (status == nullptr) return;
  status->refused = header->is_refused;
  status->found = header->used;
  status->expected = header->expected;
}

}  // namespace

std::int64_t Found::bytes(std::int64_t rows) {
  const std::int64_t tiles = Found::tiles(rows);
  return rounded_up(sizeof(FoundHeader)) + rounded_up(tiles * 4) + rounded_up(tiles * 8) +
         2 * rounded_up(tiles * kTileWords * 4) +
         rounded_up(parts_of(rows) * static_cast<std::int64_t>(sizeof(WalkedPart)));
}

Found Found::at(std::byte* memory, std::int64_t rows) {
  const std::int64_t tiles = Found::tiles(rows);
  const auto take = [&](std::int64_t bytes) {
    std::byte* taken = memory;
    memory += rounded_up(bytes);
    return taken;
  };
  Found found{};
  found.header = reinterpret_cast<FoundHeader*>(take(sizeof(FoundHeader)));
  found.counts = reinterpret_cast<std::int32_t*>(take(tiles * 4));
  found.first = reinterpret_cast<std::int64_t*>(take(tiles * 8));
  found.words = reinterpret_cast<std::uint32_t*>(take(tiles * kTileWords * 4));
  found.before = reinterpret_cast<std::int32_t*>(take(tiles * kTileWords * 4));
  found.parts = reinterpret_cast<WalkedPart*>(take(parts_of(rows) * static_cast<std::int64_t>(sizeof(WalkedPart))));
  return found;
}

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
                  static_cast<unsigned>((lists.output.rank + kColumns - 1) / kColumns));
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

}  // namespace backslice::cuda
