// The slices of a call, as the attribute of a custom call has them: one list of integers.
//
//     slices, rank, shape[rank], then per slice:
//         (start, step, count)[rank], result rank, result_axes[result rank]
//
// python/backslice/jax/selections.py writes it.
#pragma once

#include <span>
#include <vector>

#include "backslice/selection.h"

namespace backslice::jax {

/// InvalidArgument for an invalid list.
Result<std::vector<Selection>> read_selections(std::span<const std::int64_t> numbers);

}  // namespace backslice::jax
