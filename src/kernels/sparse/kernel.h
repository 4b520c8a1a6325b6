// Moving rows between a sparse tensor's values and those of its slice, as a matcher says.
//
// Each walks a range of input rows, and the rows of the slice that were found to belong to it: from slice_rows.lo on,
// and never past slice_rows.hi, whatever the indices have become since. Ranges write disjoint memory.
#pragma once

#include "backslice/view.h"
#include "kernels/cpu/kernel_context.h"
#include "kernels/sparse/matcher.h"

namespace backslice {

// out[i] = grad[slice row of i], or zero where it has none. Returns the first row of the slice that was not found.
std::int64_t write_gradient(const Matcher& matcher, Range rows, Range slice_rows, const ConstView& grad,
                            const View& out, const KernelContext& context);

// The same without the zeros: rows that have none are left alone.
void write_taken(const Matcher& matcher, Range rows, Range slice_rows, const ConstView& grad, const View& out);

// out[i] += grad[slice row of i]. Precondition: can_add(dtype).
void add_gradient(const Matcher& matcher, Range rows, Range slice_rows, const ConstView& grad, const View& out,
                  const KernelContext& context);

// values[i] and indices[i] - start to the row's place in the slice; zeros for rows that are no longer found.
void write_slice(const Matcher& matcher, Range rows, Range slice_rows, const CooIndices& indices, Ints start,
                 const ConstView& values, const View& out_indices, const View& out_values);

namespace reference {

// The same, a row at a time.
std::int64_t write_gradient(const Matcher& matcher, Range rows, Range slice_rows, const ConstView& grad,
                            const View& out);
void write_taken(const Matcher& matcher, Range rows, Range slice_rows, const ConstView& grad, const View& out);
void add_gradient(const Matcher& matcher, Range rows, Range slice_rows, const ConstView& grad, const View& out);
void write_slice(const Matcher& matcher, Range rows, Range slice_rows, const CooIndices& indices, Ints start,
                 const ConstView& values, const View& out_indices, const View& out_values);

}  // namespace reference

}  // namespace backslice
