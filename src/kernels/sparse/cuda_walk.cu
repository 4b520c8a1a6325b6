// Walking both lists, where the rows in a box are not the slice's: each row of the slice finds the first row after the
// one before it.
//
// The input is cut into parts, and each is walked by a block from a guess, which is right if the lists are sorted. Then
// one block goes over the parts and walks those again whose guess was wrong. In the end each was walked from where the
// one before it ended.
#include "kernels/sparse/cuda_read.cuh"

namespace backslice::cuda {
namespace {

constexpr int kThreads = 256;
constexpr unsigned kAllLanes = 0xffffffffu;
constexpr int kPartRows = kPartTiles * kTileRows, kPartWords = kPartTiles * kTileWords;
constexpr int kStagedIndices = 2048, kMostStagedRows = 1024;

// Rows of both lists, in the coordinates of the slice. What is walked is the copy: nobody changes it meanwhile.
struct Staged {
  std::int64_t input[kStagedIndices], output[kStagedIndices];
  bool overflows[kMostStagedRows];  // an input row that is no row of any slice
  std::uint32_t words[kPartWords];
  int input_rows, output_rows;  // staged
  int walked, matched;          // of these
};

__device__ int rows_that_fit(int rank) {
  return rank <= kStagedIndices / kMostStagedRows ? kMostStagedRows : kStagedIndices / rank;
}

__device__ int smaller(std::int64_t a, int b) { return a < b ? static_cast<int>(a) : b; }

template <class Read>
__device__ void stage(const Lists& lists, std::int64_t row, std::int64_t end, std::int64_t next, Staged& staged) {
  const int rank = lists.input.rank, room = rows_that_fit(rank);
  const int inputs = smaller(end - row, room), outputs = smaller(lists.output.rows - next, room);
  for (int i = static_cast<int>(threadIdx.x); i < inputs; i += kThreads) {
    bool overflows = false;
    for (int axis = 0; axis < rank; ++axis) {
      const std::int64_t index = index_at<Read>(lists.input, row + i, axis);
      overflows |= !slice_coordinate(index, lists.start.of[axis], staged.input[i * rank + axis]);
    }
    staged.overflows[i] = overflows;
  }
  for (int j = static_cast<int>(threadIdx.x); j < outputs; j += kThreads) {
    for (int axis = 0; axis < rank; ++axis) {
      staged.output[j * rank + axis] = index_at<Read>(lists.output, next + j, axis);
    }
  }
  if (threadIdx.x == 0) staged.input_rows = inputs, staged.output_rows = outputs;
  __syncthreads();
}

__device__ bool are_equal(const Staged& staged, int rank, int i, int j, int input_rows, int output_rows) {
  if (i >= input_rows || j >= output_rows || staged.overflows[i]) return false;
  for (int axis = 0; axis < rank; ++axis) {
    if (staged.input[i * rank + axis] != staged.output[j * rank + axis]) return false;
  }
  return true;
}

// By one warp: as far as the staged rows go. `offset` is where the first of them lies in the part, `is_end` whether the
// slice has no rows after the staged ones.
__device__ void walk_staged(Staged& staged, int rank, int offset, bool is_end) {
  const int lane = static_cast<int>(threadIdx.x);
  const int input_rows = staged.input_rows, output_rows = staged.output_rows;
  const auto equal = [&](int input, int output) {
    return are_equal(staged, rank, input, output, input_rows, output_rows);
  };
  int i = 0, j = 0;
  while (i < input_rows && j < output_rows) {
    const unsigned same = __ballot_sync(kAllLanes, equal(i + lane, j));
    if (same == 0) {
      i += 32;
      continue;
    }
    i += __ffs(static_cast<int>(same)) - 1;
    const unsigned run = __ballot_sync(kAllLanes, equal(i + lane, j + lane));
    const int length = ~run == 0 ? 32 : __ffs(static_cast<int>(~run)) - 1;  // at least 1
    const int at = offset + i + lane;
    if (lane < length) atomicOr(&staged.words[at / 32], 1u << at % 32);
    i += length;
    j += length;
  }
  if (lane != 0) return;
  const bool all = i > input_rows || (j == output_rows && is_end);
  staged.walked = all ? input_rows : i;
  staged.matched = j;
}

// By a block: a part, from row `first` of the slice on. Its words go to memory.
template <class Read>
__device__ void walk_part(const Lists& lists, const Found& found, std::int64_t part, std::int64_t first,
                          Staged& staged) {
  const std::int64_t lo = part * kPartRows, rows = lists.input.rows;
  const std::int64_t hi = lo + kPartRows < rows ? lo + kPartRows : rows;
  for (int w = static_cast<int>(threadIdx.x); w < kPartWords; w += kThreads) staged.words[w] = 0;
  std::int64_t row = lo, next = first;
  while (row < hi) {
    __syncthreads();
    stage<Read>(lists, row, hi, next, staged);
    if (threadIdx.x < 32) {
      walk_staged(staged, lists.input.rank, static_cast<int>(row - lo), next + staged.output_rows == lists.output.rows);
    }
    __syncthreads();
    row += staged.walked;
    next += staged.matched;
  }
  __syncthreads();
  const std::int64_t first_tile = part * kPartTiles, tiles = Found::tiles(rows);
  for (int w = static_cast<int>(threadIdx.x); w < kPartWords; w += kThreads) {
    if (first_tile + w / kTileWords >= tiles) break;
    const std::int64_t tile = first_tile + w / kTileWords, word = first_tile * kTileWords + w;
    int in_tile = 0, in_part = 0;  // found before this word
    for (int other = 0; other < w; ++other) {
      in_part += __popc(staged.words[other]);
      if (other / kTileWords == w / kTileWords) in_tile += __popc(staged.words[other]);
    }
    found.words[word] = staged.words[w];
    found.before[word] = in_tile;
    if (w % kTileWords == 0) found.first[tile] = first + in_part;
  }
  if (threadIdx.x == 0) found.parts[part] = {first, next};
}

template <class Read>
__global__ void __launch_bounds__(kThreads)
    walk_kernel(const __grid_constant__ Lists lists, const __grid_constant__ Found found, std::int64_t parts) {
  if (found.header->has_parted == 0) return;
  __shared__ Staged staged;
  __shared__ std::int64_t guess;
  for (std::int64_t part = blockIdx.x; part < parts; part += gridDim.x) {
    __syncthreads();
    if (threadIdx.x == 0) {
      guess = part == 0 ? 0 : guess_next_row<Read>(lists.input, part * kPartRows, lists.start, lists.output);
    }
    __syncthreads();
    walk_part<Read>(lists, found, part, guess, staged);
  }
}

// By a block: the first part from `from` on whose walk did not begin where the one before it ended, or `parts`.
__device__ std::int64_t find_wrong(const WalkedPart* walked, std::int64_t from, std::int64_t parts,
                                   unsigned long long& wrong) {
  for (std::int64_t first = from; first < parts; first += kThreads) {
    __syncthreads();
    if (threadIdx.x == 0) wrong = static_cast<unsigned long long>(parts);
    __syncthreads();
    const std::int64_t part = first + threadIdx.x;
    if (part < parts && walked[part].first != walked[part - 1].end) {
      atomicMin(&wrong, static_cast<unsigned long long>(part));
    }
    __syncthreads();
    if (wrong < static_cast<unsigned long long>(parts)) return static_cast<std::int64_t>(wrong);
  }
  return parts;
}

template <class Read>
__global__ void __launch_bounds__(kThreads)
    mend_kernel(const __grid_constant__ Lists lists, const __grid_constant__ Found found, std::int64_t parts) {
  if (found.header->has_parted == 0) return;
  __shared__ Staged staged;
  __shared__ unsigned long long wrong;
  for (std::int64_t part = find_wrong(found.parts, 1, parts, wrong); part < parts;
       part = find_wrong(found.parts, part + 1, parts, wrong)) {
    walk_part<Read>(lists, found, part, found.parts[part - 1].end, staged);
    __syncthreads();  // and with it, its end is there for all threads of this block
  }
  if (threadIdx.x == 0) found.header->used = found.parts[parts - 1].end;
}

}  // namespace

cudaError_t walk_if_parted(const Found& found, const Lists& lists, cudaStream_t stream) {
  const std::int64_t parts = Found::parts_of(lists.input.rows);
  if (parts == 0) return cudaSuccess;
  constexpr std::int64_t kMostBlocks = kMultiprocessors * 6;  // few, since mostly they have nothing to do
  const auto blocks = static_cast<unsigned>(parts < kMostBlocks ? parts : kMostBlocks);
  return visit_reads(lists.kind, [&]<class Read>() {
    if (const cudaError_t failed = launch_grid(walk_kernel<Read>, blocks, kThreads, stream, lists, found, parts)) {
      return failed;
    }
    return launch_grid(mend_kernel<Read>, 1, kThreads, stream, lists, found, parts);
  });
}

}  // namespace backslice::cuda
