#include "core/items.h"
#include "kernels/concat/kernel.h"

namespace backslice::reference {
namespace {

void write_segment(std::byte* dst, const Segment& segment, std::int64_t count, std::int64_t item_size,
                   const ItemOperations& items, Write write) {
  if (segment.first == nullptr) {
    if (write == Write::Overwrite) items.zero(dst, count, item_size);
  } else if (write == Write::Accumulate) {
    items.add(dst, segment.first, count);
  } else {
    items.copy(dst, segment.first, count, item_size);
  }
}

}  // namespace

void concat(std::byte* dst, std::span<const Segment> segments, DType dtype, std::int64_t item_size,
            std::span<const Sum> sums, Write write) {
  const ItemOperations& items = operations_of(dtype);
  for (std::size_t i = 0; i < segments.size(); ++i) {
    const std::int64_t count = item_size == 0 ? 0 : segments[i].bytes / item_size;
    write_segment(dst, segments[i], count, item_size, items, write);
    if (!sums.empty() && sums[0].segment == i) {
      for (const std::byte* term : sums[0].terms) items.add(dst, term, count);
      sums = sums.subspan(1);
    }
    dst += segments[i].bytes;
  }
}

}  // namespace backslice::reference
