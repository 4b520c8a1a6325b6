// Matching in any order on the GPU: the n-th row of the slice with an index goes to the n-th input row with that index.
//
// Rows of both lists are sorted by their position in the box of the slice's rows, each list apart and stably, so that
// rows with one index keep their order. A position that does not fit 64 bits is sorted by in several steps, last
// columns first.
#pragma once

#include "kernels/sparse/cuda_found.h"
#include "kernels/sparse/key_columns.h"

namespace backslice::cuda {

// One list while it is sorted. `rows` are those of the list; keys are of the last step.
struct SortedRows {
  std::int64_t count;
  std::uint32_t *rows, *other_rows;
  std::uint64_t *keys, *other_keys;
};

cudaError_t list_found_rows(const Found& found, std::int64_t rows, std::uint32_t* to, cudaStream_t stream);
cudaError_t list_all_rows(std::int64_t rows, std::uint32_t* to, cudaStream_t stream);

// Scratch memory that sorting so many rows takes.
cudaError_t sort_bytes(std::int64_t rows, std::size_t& bytes);

// `start`: what is subtracted from the indices; null for those of the slice.
cudaError_t sort_rows(SortedRows& sorted, const IndexList& list, IndexKind kind, const PerColumn* start,
                      const IndexBounds& box, const KeyColumns* steps, int step_count, void* scratch, std::size_t bytes,
                      cudaStream_t stream);

// found.joined, and header->used.
cudaError_t join_sorted(const Found& found, const Lists& lists, const SortedRows& input, const SortedRows& output,
                        bool keys_are_exact, cudaStream_t stream);

}  // namespace backslice::cuda
