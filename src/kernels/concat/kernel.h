// Concatenation: segments of memory written one after the other, each zeros, a copy, or a sum.
//
// Sums follow the rule: the first term is copied, each later one added to the running sum, in order.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "kernels/cpu/kernel_context.h"
#include "kernels/cuda/memory.h"

namespace backslice {

// There may be millions of them, so they are small.
struct Segment {
  const std::byte* first;  // what is copied; null for zeros
  std::int64_t bytes;      // a multiple of the size of an item
};

// What is added to a segment that is no zeros, in order.
struct Sum {
  std::size_t segment;
  std::vector<const std::byte*> terms;
};

// Writes the segments to dst, by all threads: each byte once, or, as `write` says, only those of segments that are no
// zeros. Sources are dense, of one dtype, and do not overlap dst. `sums` are in the order of their segments, and only
// with Write::Overwrite.
// Precondition: can_add(dtype) where something is added, has_zero(dtype) where zeros are written.
void concat(std::byte* dst, std::span<const Segment> segments, DType dtype, std::int64_t item_size,
            const KernelContext& context, std::span<const Sum> sums = {}, Write write = Write::Overwrite);

namespace reference {

// The same, item by item.
void concat(std::byte* dst, std::span<const Segment> segments, DType dtype, std::int64_t item_size,
            std::span<const Sum> sums = {}, Write write = Write::Overwrite);

}  // namespace reference

}  // namespace backslice

namespace backslice::cuda {

// As backslice::concat, for memory of one device. It is queued, and nothing waits, but that tables of many thousand
// segments are copied from memory of this process. A stream that is being captured is refused then: its graph would
// read that memory again when it is gone.
void concat(std::byte* dst, std::span<const Segment> segments, DType dtype, const KernelContext& context,
            std::span<const Sum> sums = {}, Write write = Write::Overwrite);

}  // namespace backslice::cuda
