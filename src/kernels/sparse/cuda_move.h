// Moving rows of values and indices, once they are found.
#pragma once

#include "kernels/cuda/addition.h"
#include "kernels/sparse/cuda_found.h"
#include "kernels/sparse/row_move.h"

namespace backslice::cuda {

// How many rows there are. Rows that were found past the end of the slice are not of it.
struct SliceRows {
  std::int64_t input, slice;
};

enum class Moves {
  RowsAndZeros,  // input rows from those of the slice, zeros where there are none
  RowsOnly,      // the same, and others are left alone
  ToSlice,       // rows of the slice from those of the input
};

cudaError_t move_rows(const RowMove& move, const Found& found, SliceRows rows, Moves moves, cudaStream_t stream);

// Adds rows of the slice to those of the input.
cudaError_t add_rows(const RowMove& move, const Found& found, SliceRows rows, const Addition& addition,
                     cudaStream_t stream);

// Where indices are written.
struct IndexMatrix {
  std::byte* data;
  std::int64_t row_stride, column_stride;
};
cudaError_t write_indices(const Lists& lists, const Found& found, SliceRows rows, const IndexMatrix& to,
                          cudaStream_t stream);

}  // namespace backslice::cuda
