// Concatenation: segments of memory written one after the other, each zeros, a copy, or a sum.
//
// Sums follow the rule: the first term is copied, each later one added to the running sum, in order.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "kernels/cpu/kernel_context.h"

namespace backslice {

using Terms = std::vector<const std::byte*>;

// There may be millions of them, so they are small.
struct Segment {
  const std::byte* first;       // what is copied; null for zeros
  std::int64_t bytes;           // a multiple of the size of an item
  const Terms* more = nullptr;  // what is added to it, in order; null for nothing
};

// Writes the segments to dst, each byte once, by all threads. Sources are dense, of one dtype, and do not overlap dst.
// Precondition: can_add(dtype) where there is more to add, has_zero(dtype) where there are zeros.
void concat(std::byte* dst, std::span<const Segment> segments, DType dtype, std::int64_t item_size,
            const KernelContext& context);

namespace reference {

// The same, item by item.
void concat(std::byte* dst, std::span<const Segment> segments, DType dtype, std::int64_t item_size);

}  // namespace reference

}  // namespace backslice
