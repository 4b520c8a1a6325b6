// The segments of one tile, as the threads of a block find them, for kernels and for tests on the CPU.
//
// Within a tile everything is counted from its first byte, with 32 bits. A tile begins where vectors are aligned, so
// that of the first one some bytes may lie before the destination.
#pragma once

#include "kernels/cuda/portable.h"

namespace backslice::cuda {

// -- Tables that say where each segment begins, cut into tiles of equal size.
//
// The work is shared by bytes of the destination, not by segments, so that a million short rows and one long one take
// the same time. Per tile the table says which segment it begins in; from there a thread finds its own by search.

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

inline constexpr int kSegmentThreads = 256, kMostKept = 512;

// The segments of a tile in memory that the threads of a block share, where they fit.
struct KeptSegments {
  int begin[kMostKept + 1];
  const std::byte* base[kMostKept];
};

class TileSegments {
 public:
  BACKSLICE_HD TileSegments(const SegmentTable& table, std::int64_t tile, KeptSegments& kept)
      : table_(table),
        origin_(tile * kTileBytes - table.lead),
        low_(table.first[tile]),
        count_(static_cast<int>(table.first[tile + 1] - low_) + 1),
        kept_(kept),
        is_kept_(count_ <= kMostKept) {}

  // Keeps a thread's share of the segments, where they fit, and returns whether one of these is long. All threads do
  // this first, and wait for each other.
  BACKSLICE_HD bool keep(int thread) const {
    bool is_long = false;
    for (int i = thread; is_kept_ && i <= count_; i += kSegmentThreads) {
      kept_.begin[i] = begin_of(i);
      if (i == count_) break;
      kept_.base[i] = base_of(i);
      is_long |= begin_of(i + 1) - kept_.begin[i] > kMostShort;
    }
    return is_long;
  }

  // Whether there are segments for all threads, none much longer than others: then groups of threads take one each.
  BACKSLICE_HD bool are_short(bool any_is_long) const { return !any_is_long && count_ >= kFewest && count_ <= kMost; }

  // The bytes of the tile that are the destination's.
  BACKSLICE_HD int lo() const { return origin_ < 0 ? static_cast<int>(-origin_) : 0; }
  BACKSLICE_HD int hi() const {
    return table_.bytes - origin_ < kTileBytes ? static_cast<int>(table_.bytes - origin_)
                                               : static_cast<int>(kTileBytes);
  }
  BACKSLICE_HD std::byte* dst(int at) const { return table_.dst + (origin_ + at); }

  // The segment that holds a byte, counted from the first of the tile.
  BACKSLICE_HD int find(int at) const {
    return segment_at([this](int i) { return begin(i); }, 0, count_ - 1, at);
  }
  BACKSLICE_HD int begin(int segment) const { return is_kept_ ? kept_.begin[segment] : begin_of(segment); }
  // Where byte 0 of the tile would be read from; null for zeros.
  BACKSLICE_HD const std::byte* base(int segment) const { return is_kept_ ? kept_.base[segment] : base_of(segment); }
  BACKSLICE_HD std::int64_t number(int segment) const { return low_ + segment; }
  BACKSLICE_HD int last() const { return count_ - 1; }
  BACKSLICE_HD int count() const { return count_; }

 private:
  static constexpr int kMostShort = 1024, kFewest = 16, kMost = 256;

  BACKSLICE_HD int begin_of(int segment) const {
    const std::int64_t at = table_.begin[low_ + segment] - origin_;
    return at < 0 ? 0 : at < kTileBytes ? static_cast<int>(at) : static_cast<int>(kTileBytes);
  }
  BACKSLICE_HD const std::byte* base_of(int segment) const {
    const std::byte* source = table_.source[low_ + segment];
    return source == nullptr ? nullptr : source - (table_.begin[low_ + segment] - origin_);
  }

  const SegmentTable& table_;
  std::int64_t origin_, low_;
  int count_;
  KeptSegments& kept_;
  bool is_kept_;
};

}  // namespace backslice::cuda
