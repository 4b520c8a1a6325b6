// The kernels of sparse slices, launched.
#pragma once

#include <cuda_runtime_api.h>

#include "kernels/sparse/device_found.h"
#include "kernels/sparse/device_join.h"
#include "kernels/sparse/device_move.h"

namespace backslice::cuda {

cudaError_t move_rows(const RowMove& move, const Found& found, SliceRows rows, Moves moves, cudaStream_t stream);

// Adds rows of the slice to those of the input.
cudaError_t add_rows(const RowMove& move, const Found& found, SliceRows rows, const Addition& addition,
                     cudaStream_t stream);

cudaError_t write_indices(const Lists& lists, const Found& found, SliceRows rows, const IndexMatrix& to,
                          cudaStream_t stream);

// -- Matching in any order

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

// -- Finding rows

// Begins: nothing found, and a box that is given, or empty.
cudaError_t begin_finding(const Found& found, const IndexBounds* box, cudaStream_t stream);

// The box becomes that of the slice's rows.
cudaError_t bound(const Found& found, const Lists& lists, cudaStream_t stream);

// Finds the input rows in the box. With `check`, has_parted says whether they are the slice's, one by one.
cudaError_t find_in_box(const Found& found, const Lists& lists, bool check, cudaStream_t stream);

// Where they have parted: walks both lists, so that each row of the slice finds the first row after the one before it.
cudaError_t walk_if_parted(const Found& found, const Lists& lists, cudaStream_t stream);

// Says how many rows of the slice were found, and refuses all unless they are `expected`, which may be negative: any
// number. `status`, unless it is null, gets the numbers.
cudaError_t finish_finding(const Found& found, std::int64_t expected, std::int64_t slice_rows, DeviceStatus* status,
                           cudaStream_t stream);

}  // namespace backslice::cuda
