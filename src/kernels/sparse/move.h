// Moving rows between a sparse tensor's values and those of its slice, as a matcher says.
//
// Each walks a range of input rows; `first` is the first row of the slice that the range may hold, and what is returned
// the first that it does not. Ranges write disjoint memory.
#pragma once

#include "backslice/view.h"
#include "kernels/sparse/matcher.h"

namespace backslice {

// out[i] = grad[slice row of i], or zero where it has none. `streaming`: past the caches.
std::int64_t write_gradient(const Matcher& matcher, Range rows, std::int64_t first, const ConstView& grad,
                            const View& out, bool streaming);

// out[i] += grad[slice row of i]. Precondition: can_add(dtype).
std::int64_t add_gradient(const Matcher& matcher, Range rows, std::int64_t first, const ConstView& grad,
                          const View& out);

// values[i] and indices[i] - start to the row's place in the slice. The outputs hold at least the rows that are found.
std::int64_t write_slice(const Matcher& matcher, Range rows, std::int64_t first, const CooIndices& indices, Ints start,
                         const ConstView& values, const View& out_indices, const View& out_values);

}  // namespace backslice
