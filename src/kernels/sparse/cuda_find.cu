// Finding the rows of a slice in one pass over the indices.
#include "kernels/sparse/cuda_read.cuh"

namespace backslice::cuda {
namespace {

constexpr int kThreads = 256, kWarps = kThreads / 32;
constexpr int kRowsPerThread = 4, kRoundRows = kRowsPerThread * kThreads, kRounds = kTileRows / kRoundRows;
constexpr int kRoundWords = kRoundRows / kWordRows32, kLaneWords = kTileWords / 32;
constexpr unsigned kAllLanes = 0xffffffffu;
constexpr std::int64_t kLargest = 0x7fffffffffffffff, kSmallest = -kLargest - 1;

constexpr std::int64_t rounded_up(std::int64_t bytes) { return (bytes + 63) / 64 * 64; }

__global__ void begin_kernel(FoundHeader* header, const __grid_constant__ IndexBounds box) {
  header->box.low[threadIdx.x] = box.low[threadIdx.x];
  header->box.high[threadIdx.x] = box.high[threadIdx.x];
  if (threadIdx.x != 0) return;
  header->next_tile = 0;
  header->found = header->used = 0;
  header->has_parted = header->is_refused = 0;
}

__device__ std::int64_t smaller(std::int64_t a, std::int64_t b) { return a < b ? a : b; }
__device__ std::int64_t larger(std::int64_t a, std::int64_t b) { return a > b ? a : b; }

// The bounds of four columns: as many as registers hold, and as many int64 as a sector of memory has.
constexpr int kColumns = 4;

template <class Read>
__global__ void __launch_bounds__(kThreads) bound_kernel(const __grid_constant__ IndexList list, FoundHeader* header) {
  const int first_axis = static_cast<int>(blockIdx.y) * kColumns;
  std::int64_t low[kColumns], high[kColumns];
  for (int a = 0; a < kColumns; ++a) low[a] = kLargest, high[a] = kSmallest;
  const std::int64_t step = std::int64_t{gridDim.x} * kThreads;
#pragma unroll 4
  for (std::int64_t row = std::int64_t{blockIdx.x} * kThreads + threadIdx.x; row < list.rows; row += step) {
#pragma unroll
    for (int a = 0; a < kColumns; ++a) {
      if (first_axis + a >= list.rank) continue;
      const std::int64_t index = index_at<Read>(list, row, first_axis + a);
      low[a] = smaller(low[a], index);
      high[a] = larger(high[a], index);
    }
  }
  __shared__ std::int64_t lows[kWarps][kColumns], highs[kWarps][kColumns];
  for (int a = 0; a < kColumns; ++a) {
    for (int lanes = 16; lanes > 0; lanes /= 2) {
      low[a] = smaller(low[a], __shfl_xor_sync(kAllLanes, low[a], lanes));
      high[a] = larger(high[a], __shfl_xor_sync(kAllLanes, high[a], lanes));
    }
    if (threadIdx.x % 32 == 0) lows[threadIdx.x / 32][a] = low[a], highs[threadIdx.x / 32][a] = high[a];
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

// One word is read and written at once; the order of other memory does not matter here.
__device__ std::uint64_t read_count(const std::uint64_t* at) { return *static_cast<const volatile std::uint64_t*>(at); }
__device__ void write_count(std::uint64_t* at, std::uint64_t word) { *static_cast<volatile std::uint64_t*>(at) = word; }

__device__ std::int64_t sum_of_lanes(std::int64_t value) {
  for (int lanes = 16; lanes > 0; lanes /= 2) value += __shfl_xor_sync(kAllLanes, value, lanes);
  return value;
}

// By one warp: the counts of all tiles before this one. Looks back tile by tile, to the last that knows its sum.
__device__ std::int64_t sum_before(std::uint64_t* counts, std::int64_t tile, std::int64_t own) {
  const int lane = static_cast<int>(threadIdx.x) % 32;
  if (tile > 0 && lane == 0) write_count(counts + tile, TileCount::pack(TileCount::kOwn, own));
  std::int64_t before = 0;
  for (std::int64_t last = tile - 1; last >= 0; last -= 32) {
    const std::int64_t at = last - lane;
    std::uint64_t word;
    do {
      word = at >= 0 ? read_count(counts + at) : TileCount::pack(TileCount::kAll, 0);
    } while (__any_sync(kAllLanes, TileCount::kind(word) == TileCount::kNothing));
    const unsigned sums = __ballot_sync(kAllLanes, TileCount::kind(word) == TileCount::kAll);
    const int reach = sums != 0 ? __ffs(static_cast<int>(sums)) - 1 : 31;
    before += sum_of_lanes(lane <= reach ? TileCount::count(word) : 0);
    if (sums != 0) break;
  }
  if (lane == 0) write_count(counts + tile, TileCount::pack(TileCount::kAll, before + own));
  return before;
}

// Of a tile: the words of found rows, and how many were found before each word.
struct TileWords {
  std::uint32_t words[kTileWords];
  std::int64_t before[kTileWords];
};

// By one warp: a tile's counts go to all that come after it, and theirs to it.
__device__ void publish(const Found& found, std::int64_t tile, std::int64_t tiles, TileWords& shared) {
  const int lane = static_cast<int>(threadIdx.x) % 32;
  int own[kLaneWords], sum = 0;  // each lane has some words that follow each other
  for (int w = 0; w < kLaneWords; ++w) sum += own[w] = __popc(shared.words[lane * kLaneWords + w]);
  int up_to = sum;
  for (int lanes = 1; lanes < 32; lanes *= 2) {
    const int other = __shfl_up_sync(kAllLanes, up_to, lanes);
    if (lane >= lanes) up_to += other;
  }
  const int all = __shfl_sync(kAllLanes, up_to, 31);
  const std::int64_t before = sum_before(found.counts, tile, all);
  std::int64_t next = before + up_to - sum;
  for (int w = 0; w < kLaneWords; ++w) {
    shared.before[lane * kLaneWords + w] = next;
    next += own[w];
  }
  if (lane == 0 && tile == tiles - 1) found.header->found = before + all;
}

// Columns are read two at a time, so that more loads are under way at once.
constexpr int kAxesAtOnce = 2;

// The coordinates of this thread's rows on some columns; `inside` becomes false for rows outside the box.
template <class Read>
__device__ void read_columns(const Lists& lists, const IndexBounds& box, int axis, std::int64_t first_row,
                             const bool (&is_row)[kRowsPerThread], bool (&inside)[kRowsPerThread],
                             std::int64_t (&coordinates)[kAxesAtOnce][kRowsPerThread]) {
#pragma unroll
  for (int a = 0; a < kAxesAtOnce; ++a) {
#pragma unroll
    for (int k = 0; k < kRowsPerThread; ++k) {
      if (axis + a < lists.input.rank && is_row[k]) {
        coordinates[a][k] = index_at<Read>(lists.input, first_row + k * kThreads, axis + a);
      }
    }
  }
#pragma unroll
  for (int a = 0; a < kAxesAtOnce; ++a) {
    if (axis + a >= lists.input.rank) break;
    const std::int64_t start = lists.start.of[axis + a], low = box.low[axis + a], high = box.high[axis + a];
#pragma unroll
    for (int k = 0; k < kRowsPerThread; ++k) {
      const bool fits = is_row[k] && slice_coordinate(coordinates[a][k], start, coordinates[a][k]);
      inside[k] &= fits && low <= coordinates[a][k] && coordinates[a][k] <= high;
    }
  }
}

// Whether rows differ from the rows of the slice that they must be.
template <class Read>
__device__ bool differ(const IndexList& output, int axis, const std::int64_t (&slice_row)[kRowsPerThread],
                       const std::int64_t (&coordinates)[kAxesAtOnce][kRowsPerThread]) {
  std::int64_t expected[kAxesAtOnce][kRowsPerThread];
#pragma unroll
  for (int a = 0; a < kAxesAtOnce; ++a) {
#pragma unroll
    for (int k = 0; k < kRowsPerThread; ++k) {
      expected[a][k] = coordinates[a][k];
      if (axis + a < output.rank && slice_row[k] != kNoSliceRow) {
        expected[a][k] = index_at<Read>(output, slice_row[k], axis + a);
      }
    }
  }
  bool any = false;
#pragma unroll
  for (int a = 0; a < kAxesAtOnce; ++a) {
#pragma unroll
    for (int k = 0; k < kRowsPerThread; ++k) any |= expected[a][k] != coordinates[a][k];
  }
  return any;
}

// This thread's rows in a round, and which of them exist.
struct RoundRows {
  std::int64_t first;
  bool is_row[kRowsPerThread];

  __device__ RoundRows(std::int64_t tile, int round, std::int64_t rows)
      : first(tile * kTileRows + round * kRoundRows + threadIdx.x) {
    for (int k = 0; k < kRowsPerThread; ++k) is_row[k] = first + k * kThreads < rows;
  }
};

template <class Read>
__device__ void find_round(const Lists& lists, const IndexBounds& box, std::int64_t tile, int round,
                           TileWords& shared) {
  const RoundRows rows(tile, round, lists.input.rows);
  bool inside[kRowsPerThread];
  std::int64_t coordinates[kAxesAtOnce][kRowsPerThread];
  for (int k = 0; k < kRowsPerThread; ++k) inside[k] = rows.is_row[k];
  for (int axis = 0; axis < lists.input.rank; axis += kAxesAtOnce) {
    read_columns<Read>(lists, box, axis, rows.first, rows.is_row, inside, coordinates);
  }
  const int warp = static_cast<int>(threadIdx.x) / 32;
  for (int k = 0; k < kRowsPerThread; ++k) {
    const unsigned word = __ballot_sync(kAllLanes, inside[k]);
    if (threadIdx.x % 32 == 0) shared.words[round * kRoundWords + k * kWarps + warp] = word;
  }
}

// Whether a row that was found is not the row of the slice that it must be.
template <class Read>
__device__ bool has_parted(const Lists& lists, const IndexBounds& box, std::int64_t tile, int round,
                           const TileWords& shared) {
  const int warp = static_cast<int>(threadIdx.x) / 32, lane = static_cast<int>(threadIdx.x) % 32;
  const RoundRows rows(tile, round, lists.input.rows);
  std::int64_t slice_row[kRowsPerThread];
  bool is_found[kRowsPerThread], inside[kRowsPerThread];
  for (int k = 0; k < kRowsPerThread; ++k) {
    const int word = round * kRoundWords + k * kWarps + warp;
    slice_row[k] = slice_row_of(shared.words[word], lane, shared.before[word]);
    if (slice_row[k] >= lists.output.rows) slice_row[k] = kNoSliceRow;
    inside[k] = is_found[k] = slice_row[k] != kNoSliceRow;
  }
  bool parted = false;
  for (int axis = 0; axis < lists.input.rank; axis += kAxesAtOnce) {
    std::int64_t coordinates[kAxesAtOnce][kRowsPerThread] = {};
    read_columns<Read>(lists, box, axis, rows.first, is_found, inside, coordinates);
    parted |= differ<Read>(lists.output, axis, slice_row, coordinates);
  }
  return parted;
}

// Blocks take their tiles in the order in which they begin, so that none waits for one that has not begun.
template <class Read>
__global__ void __launch_bounds__(kThreads, 5)
    find_kernel(const __grid_constant__ Lists lists, const __grid_constant__ Found found, std::int64_t tiles,
                bool check) {
  __shared__ TileWords shared;
  __shared__ std::int64_t taken;
  if (threadIdx.x == 0) taken = static_cast<std::int64_t>(atomicAdd(&found.header->next_tile, 1ull));
  __syncthreads();
  const std::int64_t tile = taken;
  const IndexBounds& box = found.header->box;
#pragma unroll 2
  for (int round = 0; round < kRounds; ++round) find_round<Read>(lists, box, tile, round, shared);
  __syncthreads();
  if (threadIdx.x < 32) publish(found, tile, tiles, shared);
  __syncthreads();
  if (threadIdx.x < kTileWords) {
    found.words[tile * kTileWords + threadIdx.x] = shared.words[threadIdx.x];
    found.before[tile * kTileWords + threadIdx.x] = shared.before[threadIdx.x];
  }
  bool parted = false;
#pragma unroll 2
  for (int round = 0; check && round < kRounds; ++round) parted |= has_parted<Read>(lists, box, tile, round, shared);
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
  return rounded_up(sizeof(FoundHeader)) + rounded_up(tiles * 8) + rounded_up(tiles * kTileWords * 4) +
         tiles * kTileWords * 8 + rounded_up(parts_of(rows) * static_cast<std::int64_t>(sizeof(WalkedPart)));
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
  found.counts = reinterpret_cast<std::uint64_t*>(take(tiles * 8));
  found.words = reinterpret_cast<std::uint32_t*>(take(tiles * kTileWords * 4));
  found.before = reinterpret_cast<std::int64_t*>(take(tiles * kTileWords * 8));
  found.parts = reinterpret_cast<WalkedPart*>(take(parts_of(rows) * static_cast<std::int64_t>(sizeof(WalkedPart))));
  return found;
}

cudaError_t begin_finding(const Found& found, std::int64_t rows, const IndexBounds* box, cudaStream_t stream) {
  IndexBounds bounds;
  for (int axis = 0; axis < kMaxColumns; ++axis) {
    bounds.low[axis] = box != nullptr ? box->low[axis] : kLargest;
    bounds.high[axis] = box != nullptr ? box->high[axis] : kSmallest;
  }
  if (const cudaError_t failed = launch_grid(begin_kernel, 1, kMaxColumns, stream, found.header, bounds)) return failed;
  if (Found::tiles(rows) == 0) return cudaSuccess;
  const auto bytes = static_cast<std::size_t>(Found::tiles(rows)) * sizeof(std::uint64_t);
  return cudaMemsetAsync(found.counts, 0, bytes, stream);
}

cudaError_t bound(const Found& found, const Lists& lists, cudaStream_t stream) {
  if (lists.output.rows == 0 || lists.output.rank == 0) return cudaSuccess;
  constexpr std::int64_t kMostBlocks = kMultiprocessors * 8;
  const std::int64_t blocks = (lists.output.rows + kThreads - 1) / kThreads;
  const dim3 grid(static_cast<unsigned>(blocks < kMostBlocks ? blocks : kMostBlocks),
                  static_cast<unsigned>((lists.output.rank + kColumns - 1) / kColumns));
  return visit_reads(lists.kind, [&]<class Read>() {
    return launch_grid(bound_kernel<Read>, grid, kThreads, stream, lists.output, found.header);
  });
}

cudaError_t find_in_box(const Found& found, const Lists& lists, bool check, cudaStream_t stream) {
  const std::int64_t tiles = Found::tiles(lists.input.rows);
  if (tiles == 0) return cudaSuccess;
  return visit_reads(lists.kind, [&]<class Read>() {
    return launch_grid(find_kernel<Read>, static_cast<unsigned>(tiles), kThreads, stream, lists, found, tiles, check);
  });
}

cudaError_t finish_finding(const Found& found, std::int64_t expected, std::int64_t slice_rows, DeviceStatus* status,
                           cudaStream_t stream) {
  return launch_grid(finish_kernel, 1, 1, stream, found.header, expected, slice_rows, status);
}

}  // namespace backslice::cuda
