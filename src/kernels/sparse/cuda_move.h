// Moving rows of values and indices, once they are found: the kernels, launched.
#pragma once

#include <cuda_runtime_api.h>

#include "kernels/sparse/device_move.h"

namespace backslice::cuda {

cudaError_t move_rows(const RowMove& move, const Found& found, SliceRows rows, Moves moves, cudaStream_t stream);

// Adds rows of the slice to those of the input.
cudaError_t add_rows(const RowMove& move, const Found& found, SliceRows rows, const Addition& addition,
                     cudaStream_t stream);

cudaError_t write_indices(const Lists& lists, const Found& found, SliceRows rows, const IndexMatrix& to,
                          cudaStream_t stream);

}  // namespace backslice::cuda
