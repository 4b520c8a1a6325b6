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

// Small, since there may be millions of segments.
struct Segment {
  const std::byte* first;  // source of the copy; null for zeros
  std::int64_t bytes;      // a multiple of the size of an item
};

// The terms that are added to a segment, which is not zeros, in order.
struct Sum {
  std::size_t segment;
  std::vector<const std::byte*> terms;
};

// Writes the segments to dst, on all threads: each byte once, or, as `write` says, only segments that are not zeros.
// Sources are dense, of one dtype, and do not overlap dst. `sums` are in the order of their segments, and only for
// Write::Overwrite. Precondition: can_add(dtype) if something is added, has_zero(dtype) if zeros are written.
void concat(std::byte* dst, std::span<const Segment> segments, DType dtype, std::int64_t item_size,
            const KernelContext& context, std::span<const Sum> sums = {}, Write write = Write::Overwrite);

namespace reference {

// The plain version, item by item.
void concat(std::byte* dst, std::span<const Segment> segments, DType dtype, std::int64_t item_size,
            std::span<const Sum> sums = {}, Write write = Write::Overwrite);

}  // namespace reference

}  // namespace backslice

namespace backslice::cuda {

// The same for memory of one device. The work is queued without waiting, except that tables of many thousand segments
// are copied from memory of this process. On a stream that is being captured, such tables are refused: the graph would
// read that memory after it is freed.
void concat(std::byte* dst, std::span<const Segment> segments, DType dtype, const KernelContext& context,
            std::span<const Sum> sums = {}, Write write = Write::Overwrite);

}  // namespace backslice::cuda
