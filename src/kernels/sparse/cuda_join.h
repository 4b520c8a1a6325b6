// Matching in any order on the GPU: the kernels, launched.
#pragma once

#include <cuda_runtime_api.h>

#include "kernels/sparse/device_join.h"

namespace backslice::cuda {

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
