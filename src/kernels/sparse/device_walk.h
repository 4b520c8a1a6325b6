// A walk over both lists by one block of threads, for kernels and for tests on the CPU: each row of the slice finds the
// next input row with its index. It runs if the rows in the slice's box are not the slice's, one by one, which no slice
// of a sparse tensor causes.
#pragma once

#include "kernels/sparse/device_found.h"

namespace backslice::cuda {

// -- A block of threads that work together
//
// On a device, all threads of a block run code in these terms, and each does its own part. On the CPU one thread runs
// it, and does all parts in turn. Code between the calls is the same for all threads.

// Calls body(thread) on each of kThreads, then waits at a barrier.
template <int kThreads, class Body>
BACKSLICE_HD void by_threads(const Body& body) {
#ifdef __CUDA_ARCH__
  body(static_cast<int>(threadIdx.x));
  __syncthreads();
#else
  for (int thread = 0; thread < kThreads; ++thread) body(thread);
#endif
}

// Calls body() on the first warp, then waits at a barrier.
template <class Body>
BACKSLICE_HD void by_first_warp(const Body& body) {
#ifdef __CUDA_ARCH__
  if (threadIdx.x < 32) body();
  __syncthreads();
#else
  body();
#endif
}

// Calls body(lane) on each lane of a warp.
template <class Body>
BACKSLICE_HD void by_lanes(const Body& body) {
#ifdef __CUDA_ARCH__
  body(static_cast<int>(threadIdx.x) % 32);
#else
  for (int lane = 0; lane < 32; ++lane) body(lane);
#endif
}

// Returns to all lanes of a warp the lanes for which test(lane) holds.
template <class Test>
BACKSLICE_HD std::uint32_t lanes_where(const Test& test) {
#ifdef __CUDA_ARCH__
  return __ballot_sync(0xffffffffu, test(static_cast<int>(threadIdx.x) % 32));
#else
  std::uint32_t lanes = 0;
  for (int lane = 0; lane < 32; ++lane) lanes |= static_cast<std::uint32_t>(test(lane)) << lane;
  return lanes;
#endif
}

// -- Memory that several threads change at once

BACKSLICE_HD void set_bit(std::uint32_t* words, int at) {
#ifdef __CUDA_ARCH__
  atomicOr(&words[at / 32], 1u << at % 32);
#else
  words[at / 32] |= 1u << at % 32;
#endif
}

// -- The walk

inline constexpr int kWalkThreads = 256;
inline constexpr int kWalkedTiles = 2, kPartRows = kWalkedTiles * kTileRows, kPartWords = kWalkedTiles * kTileWords;
inline constexpr int kStagedIndices = 2048, kMostStagedRows = 1024;

// Rows of both lists, in the coordinates of the slice. The walk reads this copy, which cannot change meanwhile.
struct Staged {
  std::int64_t input[kStagedIndices], output[kStagedIndices];
  bool overflows[kMostStagedRows];  // an input row that cannot be a row of a slice
  std::uint32_t words[kPartWords];
  int input_rows, output_rows;  // staged
  int walked, matched;          // of these
};

BACKSLICE_HD int rows_that_fit(int rank) {
  return rank <= kStagedIndices / kMostStagedRows ? kMostStagedRows : kStagedIndices / rank;
}

BACKSLICE_HD int rows_at_most(std::int64_t rows, int most) { return rows < most ? static_cast<int>(rows) : most; }

// Copies a thread's rows from `row` of the input and `next` of the slice on.
template <class Read>
BACKSLICE_HD void stage(const Lists& lists, std::int64_t row, std::int64_t end, std::int64_t next, Staged& staged,
                        int thread) {
  const int rank = lists.input.rank, room = rows_that_fit(rank);
  const int inputs = rows_at_most(end - row, room), outputs = rows_at_most(lists.output.rows - next, room);
  for (int i = thread; i < inputs; i += kWalkThreads) {
    bool overflows = false;
    for (int axis = 0; axis < rank; ++axis) {
      const std::int64_t index = index_at<Read>(lists.input, row + i, axis);
      overflows |= !slice_coordinate(index, lists.start.of[axis], staged.input[i * rank + axis]);
    }
    staged.overflows[i] = overflows;
  }
  for (int j = thread; j < outputs; j += kWalkThreads) {
    for (int axis = 0; axis < rank; ++axis) {
      staged.output[j * rank + axis] = index_at<Read>(lists.output, next + j, axis);
    }
  }
  if (thread == 0) staged.input_rows = inputs, staged.output_rows = outputs;
}

BACKSLICE_HD bool are_equal(const Staged& staged, int rank, int i, int j, int input_rows, int output_rows) {
  if (i >= input_rows || j >= output_rows || staged.overflows[i]) return false;
  for (int axis = 0; axis < rank; ++axis) {
    if (staged.input[i * rank + axis] != staged.output[j * rank + axis]) return false;
  }
  return true;
}

// Called by one warp: walks the staged rows. `offset` is the position of the first of them in the part, `is_end`
// whether the slice has no rows after the staged ones.
BACKSLICE_HD void walk_staged(Staged& staged, int rank, int offset, bool is_end) {
  const int input_rows = staged.input_rows, output_rows = staged.output_rows;
  const auto equal = [&](int input, int output) {
    return are_equal(staged, rank, input, output, input_rows, output_rows);
  };
  int i = 0, j = 0;
  while (i < input_rows && j < output_rows) {
    const std::uint32_t same = lanes_where([&](int lane) { return equal(i + lane, j); });
    if (same == 0) {
      i += 32;
      continue;
    }
    i += first_bit(same);
    const std::uint32_t run = lanes_where([&](int lane) { return equal(i + lane, j + lane); });
    const int length = ~run == 0 ? 32 : first_bit(~run);  // at least 1
    by_lanes([&](int lane) {
      if (lane < length) set_bit(staged.words, offset + i + lane);
    });
    i += length;
    j += length;
  }
  const bool all = i > input_rows || (j == output_rows && is_end);
  by_lanes([&](int lane) {
    if (lane == 0) staged.walked = all ? input_rows : i, staged.matched = j;
  });
}

// Writes a thread's words of a part that was walked from row `first` of the slice on.
BACKSLICE_HD void write_words(const Found& found, const Staged& staged, std::int64_t part, std::int64_t tiles,
                              std::int64_t first, int thread) {
  const std::int64_t first_tile = part * kWalkedTiles;
  for (int w = thread; w < kPartWords; w += kWalkThreads) {
    if (first_tile + w / kTileWords >= tiles) break;
    const std::int64_t tile = first_tile + w / kTileWords, word = first_tile * kTileWords + w;
    int in_tile = 0, in_part = 0;  // found before this word
    for (int other = 0; other < w; ++other) {
      in_part += count_bits(staged.words[other]);
      if (other / kTileWords == w / kTileWords) in_tile += count_bits(staged.words[other]);
    }
    found.words[word] = staged.words[w];
    found.before[word] = in_tile;
    if (w % kTileWords == 0) found.first[tile] = first + in_part;
  }
}

// Called by a block: walks a part, from row `first` of the slice on, and writes its words. Returns the next row of the
// slice.
template <class Read>
BACKSLICE_HD std::int64_t walk_part(const Lists& lists, const Found& found, std::int64_t part, std::int64_t first,
                                    Staged& staged) {
  const std::int64_t lo = part * kPartRows, rows = lists.input.rows;
  const std::int64_t hi = lo + kPartRows < rows ? lo + kPartRows : rows;
  by_threads<kWalkThreads>([&](int thread) {
    for (int w = thread; w < kPartWords; w += kWalkThreads) staged.words[w] = 0;
  });
  std::int64_t row = lo, next = first;
  while (row < hi) {
    by_threads<kWalkThreads>([&](int thread) { stage<Read>(lists, row, hi, next, staged, thread); });
    by_first_warp([&] {
      walk_staged(staged, lists.input.rank, static_cast<int>(row - lo), next + staged.output_rows == lists.output.rows);
    });
    row += staged.walked;
    next += staged.matched;
  }
  by_threads<kWalkThreads>([&](int thread) { write_words(found, staged, part, Found::tiles(rows), first, thread); });
  return next;
}

// Called by a block: walks one part after the other.
template <class Read>
BACKSLICE_HD void walk_rows(const Lists& lists, const Found& found, Staged& staged) {
  std::int64_t next = 0;
  for (std::int64_t part = 0; part * kPartRows < lists.input.rows; ++part) {
    next = walk_part<Read>(lists, found, part, next, staged);
  }
  by_threads<kWalkThreads>([&](int thread) {
    if (thread == 0) found.header->used = next;
  });
}

}  // namespace backslice::cuda
