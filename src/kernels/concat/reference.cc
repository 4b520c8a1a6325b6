#include "core/items.h"
#include "kernels/concat/kernel.h"

namespace backslice::reference {

void concat(std::byte* dst, std::span<const Segment> segments, DType dtype, std::int64_t item_size) {
  const ItemOperations& items = operations_of(dtype);
  for (const Segment& segment : segments) {
    const std::int64_t count = item_size == 0 ? 0 : segment.bytes / item_size;
    if (segment.first == nullptr) {
      items.zero(dst, count, item_size);
    } else {
      items.copy(dst, segment.first, count, item_size);
    }
    if (segment.more != nullptr) {
      for (const std::byte* term : *segment.more) items.add(dst, term, count);
    }
    dst += segment.bytes;
  }
}

}  // namespace backslice::reference
