// The kernels that find the rows of a sparse slice, launched.
#pragma once

#include <cuda_runtime_api.h>

#include "kernels/sparse/device_found.h"

namespace backslice::cuda {

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
