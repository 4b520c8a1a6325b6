// Segments as a GPU copies them: tables that say where each begins, cut into tiles of equal size.
//
// The work is shared by bytes of the destination, not by segments, so that a million short rows and one long one take
// the same time. Per tile the table says which segment it begins in; from there a thread finds its own by search.
#pragma once

#include "kernels/cuda/portable.h"

namespace backslice::cuda {

inline constexpr std::int64_t kVectorBytes = 16, kTileBytes = 16 << 10;

// In memory of the device.
struct SegmentTable {
  std::byte* dst;
  std::int64_t count;              // of segments; none is empty
  std::int64_t bytes;              // in all
  std::int64_t lead;               // how many bytes dst lies after an address where vectors are aligned
  const std::int64_t* begin;       // of each segment, counted from dst; one more than there are
  const std::byte* const* source;  // null for zeros
  const std::int64_t* first;       // per tile, the segment that holds its first byte; one more than there are
  const std::int64_t* first_term;  // per segment, its terms after the first; one more than there are; null: none
  const std::byte* const* terms;
};

// What sums of segments do: they are written, or added to what is there.
enum class SegmentSums { Write, AddTo };

// The first byte of a tile.
BACKSLICE_HD std::int64_t tile_begin(const SegmentTable& table, std::int64_t tile) {
  const std::int64_t at = tile * kTileBytes - table.lead;
  return at < 0 ? 0 : at < table.bytes ? at : table.bytes;
}

// The last of the segments [low, high] that begins at or before a byte, where segment i begins at begin(i).
// Precondition: segment `low` does.
template <class Begin, class Int>
BACKSLICE_HD Int segment_at(const Begin& begin, Int low, Int high, Int at) {
  while (low < high) {
    const Int middle = low + (high - low + 1) / 2;
    if (begin(middle) <= at) {
      low = middle;
    } else {
      high = middle - 1;
    }
  }
  return low;
}

}  // namespace backslice::cuda
