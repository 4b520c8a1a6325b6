// Whether strided tensors share memory.
//
// Deciding it exactly is hard in general (integers x_i within bounds with sum a_i x_i = b), and easy for every layout
// that slicing makes. The search is exact within a bound on its work. If it reaches the bound, the answer is that they
// overlap.
#pragma once

#include "backslice/view.h"

namespace backslice {

// Whether two different elements of the layout share a byte.
bool overlaps_itself(const Layout& layout);

// Whether an element of one view shares a byte with an element of the other.
bool overlap(const std::byte* a, const Layout& layout_a, const std::byte* b, const Layout& layout_b);
inline bool overlap(const ConstView& a, const ConstView& b) { return overlap(a.data, a.layout, b.data, b.layout); }

}  // namespace backslice
