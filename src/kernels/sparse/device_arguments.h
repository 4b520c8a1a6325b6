// What kernels for sparse rows are given, made from indices and views.
#pragma once

#include "backslice/coo_indices.h"
#include "backslice/view.h"
#include "kernels/sparse/device_found.h"
#include "kernels/sparse/device_move.h"

namespace backslice::cuda {

// Precondition: both have one dtype and rank, which `start` has too.
Lists lists_of(const CooIndices& input, Ints start, const CooIndices& output);

// How rows are moved, in chunks of at least that width.
RowMove row_move(const View& to, const ConstView& from, int least_width = 1);

}  // namespace backslice::cuda
