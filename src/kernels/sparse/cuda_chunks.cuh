// The chunks of rows, one per thread, with the slice row of each.
#pragma once

#include "kernels/sparse/cuda_move.h"
#include "kernels/sparse/cuda_read.cuh"

namespace backslice::cuda {

inline constexpr int kChunkThreads = 256, kChunksPerThread = 8;

// One more than CUDA takes where there are too many chunks, as broadcast rows may have, so that the launch is refused.
inline unsigned blocks_for_chunks(std::int64_t rows, std::int64_t chunks) {
  constexpr std::int64_t kPerBlock = kChunkThreads * kChunksPerThread, kTooMany = std::int64_t{1} << 31;
  std::int64_t all;
  if (__builtin_mul_overflow(rows, chunks, &all)) return kTooMany;
  const std::int64_t blocks = all / kPerBlock + (all % kPerBlock != 0);
  return static_cast<unsigned>(blocks < kTooMany ? blocks : kTooMany);
}

__device__ inline std::int64_t slice_row_at(const Found& found, std::int64_t row) {
  if (found.joined != nullptr) return found.joined[row];
  const std::int64_t word = row / kWordRows32;
  return slice_row_of(found.words[word], static_cast<int>(row % kWordRows32), found.first_of(word));
}

__device__ inline std::int64_t quotient(std::int64_t a, std::int64_t b) {
  if (b == 1) return a;
  if ((a | b) >> 32 == 0) return static_cast<std::uint32_t>(a) / static_cast<std::uint32_t>(b);
  return a / b;
}

// Calls body(row, slice row or kNoSliceRow, chunk) for those of this thread.
template <class Body>
__device__ void for_each_chunk(const Found& found, const SliceRows& rows, std::int64_t chunks, const Body& body) {
  const std::int64_t first = std::int64_t{blockIdx.x} * kChunkThreads * kChunksPerThread + threadIdx.x;
#pragma unroll
  for (int k = 0; k < kChunksPerThread; ++k) {
    const std::int64_t unit = first + k * kChunkThreads, row = quotient(unit, chunks);
    if (row >= rows.input) return;
    const std::int64_t slice_row = slice_row_at(found, row);
    body(row, slice_row < rows.slice ? slice_row : kNoSliceRow, unit - row * chunks);
  }
}

}  // namespace backslice::cuda
