// Launches of the kernels for sparse slices.
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

// Returns the scratch memory for sorting so many rows.
cudaError_t sort_bytes(std::int64_t rows, std::size_t& bytes);

// `start` is subtracted from the indices; null for those of the slice.
cudaError_t sort_rows(SortedRows& sorted, const IndexList& list, IndexKind kind, const PerColumn* start,
                      const IndexBounds& box, const KeyColumns* steps, int step_count, void* scratch, std::size_t bytes,
                      cudaStream_t stream);

// Writes found.joined and header->used.
cudaError_t join_sorted(const Found& found, const Lists& lists, const SortedRows& input, const SortedRows& output,
                        bool keys_are_exact, cudaStream_t stream);

// -- Finding rows

// Begins with nothing found, and with a given box or an empty one.
cudaError_t begin_finding(const Found& found, const IndexBounds* box, cudaStream_t stream);

// Computes the box of the slice's rows.
cudaError_t bound(const Found& found, const Lists& lists, cudaStream_t stream);

// Finds the input rows in the box. With `check`, has_parted says whether they differ from the slice's, one by one.
cudaError_t find_in_box(const Found& found, const Lists& lists, bool check, cudaStream_t stream);

// If they differ, walks both lists: each row of the slice finds the next input row with its index.
cudaError_t walk_if_parted(const Found& found, const Lists& lists, cudaStream_t stream);

// Stores how many rows of the slice were found, and refuses all unless they are `expected`; a negative number accepts
// any. `status`, unless it is null, gets the numbers.
cudaError_t finish_finding(const Found& found, std::int64_t expected, std::int64_t slice_rows, DeviceStatus* status,
                           cudaStream_t stream);

}  // namespace backslice::cuda
