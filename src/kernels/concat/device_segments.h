// The segments of one tile, and the work of each thread of its block, for kernels and for tests on the CPU.
//
// Within a tile, bytes are counted from its first byte, with 32 bits. A tile begins at the alignment of vectors, so
// some bytes of the first tile may lie before the destination.
#pragma once

#ifdef __CUDACC__
#include <cuda_pipeline.h>
#endif

#include "kernels/cuda/addition.h"
#include "kernels/cuda/portable.h"

namespace backslice::cuda {

// -- Tables of the beginnings of segments, for tiles of equal size.
//
// The work is divided by bytes of the destination, not by segments, so a million short rows and one long row take the
// same time. For each tile the table has the segment in which it begins; a thread finds its own segment from there by
// search.

inline constexpr std::int64_t kVectorBytes = 16, kTileBytes = 16 << 10;

// In device memory.
struct SegmentTable {
  std::byte* dst;
  std::int64_t count;              // of segments; none is empty
  std::int64_t bytes;              // in all
  std::int64_t lead;               // how many bytes dst lies after an address where vectors are aligned
  const std::int64_t* begin;       // of each segment, counted from dst; one more than there are
  const std::byte* const* source;  // null for zeros
  const std::int64_t* first;       // per tile, the segment that holds its first byte; one more than there are
  const std::int64_t* first_term;  // per segment, its terms after the first; one more entry; null: no terms
  const std::byte* const* terms;
};

// Whether sums of segments are written or added to the destination.
enum class SegmentSums { Write, AddTo };

// Returns the first byte of a tile.
BACKSLICE_HD std::int64_t tile_begin(const SegmentTable& table, std::int64_t tile) {
  const std::int64_t at = tile * kTileBytes - table.lead;
  return at < 0 ? 0 : at < table.bytes ? at : table.bytes;
}

// Returns the last of the segments [low, high] that begins at or before a byte; segment i begins at begin(i).
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

// The segments of a tile in shared memory, if they fit.
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

  // Stores the segments of one thread, if they fit, and returns whether one of them is long. All threads call this
  // first, and wait for each other.
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

  // Whether there are segments for all threads, and none is much longer than others: then groups of threads take one
  // each.
  BACKSLICE_HD bool are_short(bool any_is_long) const { return !any_is_long && count_ >= kFewest && count_ <= kMost; }

  // Returns the bytes of the tile that belong to the destination.
  BACKSLICE_HD int lo() const { return origin_ < 0 ? static_cast<int>(-origin_) : 0; }
  BACKSLICE_HD int hi() const {
    return table_.bytes - origin_ < kTileBytes ? static_cast<int>(table_.bytes - origin_)
                                               : static_cast<int>(kTileBytes);
  }
  BACKSLICE_HD std::byte* dst(int at) const { return table_.dst + (origin_ + at); }

  // Returns the segment of a byte, counted from the first of the tile.
  BACKSLICE_HD int find(int at) const {
    return segment_at([this](int i) { return begin(i); }, 0, count_ - 1, at);
  }
  BACKSLICE_HD int begin(int segment) const { return is_kept_ ? kept_.begin[segment] : begin_of(segment); }
  // Returns the source address of byte 0 of the tile; null for zeros.
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

// -- The work of one thread of a block that copies the segments of a tile.
//
// All addresses and sizes are multiples of kUnit bytes. The destination is written in vectors. Each thread finds the
// source of the units of its vectors. If segments are short, groups of threads first gather them in shared memory.

inline constexpr int kVectorsPerThread = kTileBytes / kVectorBytes / kSegmentThreads;

// Returns the beginning of vector number k of a thread in the tile.
BACKSLICE_HD int vector_begin(int k, int thread) {
  return (k * kSegmentThreads + thread) * static_cast<int>(kVectorBytes);
}

// The sources of the units of a vector: null for zeros, and for bytes outside the destination.
template <int kUnit>
struct VectorSource {
  static constexpr int kUnits = kVectorBytes / kUnit;

  const std::byte* unit[kUnits];
  int at;  // in the tile

  BACKSLICE_HD void find(const TileSegments& segments, int first) {
    at = first;
    const int lo = segments.lo(), hi = segments.hi();
    int segment = segments.find(at < lo ? lo : at), end = segments.begin(segment + 1);
    const std::byte* base = segments.base(segment);
    BACKSLICE_UNROLL
    for (int u = 0; u < kUnits; ++u) {
      const int byte = at + u * kUnit;
      if (byte >= end && segment < segments.last()) {  // no segment is shorter than a unit
        end = segments.begin(++segment + 1);
        base = segments.base(segment);
      }
      unit[u] = base != nullptr && byte >= lo && byte < hi ? base + byte : nullptr;
    }
  }

  BACKSLICE_HD Vector read() const {
    Vector vector;
    BACKSLICE_UNROLL
    for (int u = 0; u < kUnits; ++u) {
      if (unit[u] != nullptr) put<kUnit>(vector, static_cast<unsigned>(u), load<kUnit>(unit[u]));
    }
    return vector;
  }

  BACKSLICE_HD void write(const TileSegments& segments, const Vector& vector, bool writes_zeros) const {
    const int lo = segments.lo(), hi = segments.hi();
    bool is_whole = at >= lo && at + kVectorBytes <= hi;
    BACKSLICE_UNROLL
    for (int u = 0; u < kUnits; ++u) is_whole &= writes_zeros || unit[u] != nullptr;
    if (is_whole) return store<16>(segments.dst(at), vector);
    BACKSLICE_UNROLL
    for (int u = 0; u < kUnits; ++u) {
      const int byte = at + u * kUnit;
      if (byte >= lo && byte < hi && (writes_zeros || unit[u] != nullptr)) {
        store<kUnit>(segments.dst(byte), item_of<kUnit>(vector, static_cast<unsigned>(u)));
      }
    }
  }
};

// Copies a thread's vectors. It finds the sources of two, then reads them, then writes them. For narrow units it takes
// one vector at a time, since registers do not suffice for two.
template <int kUnit>
BACKSLICE_HD void copy_vectors(const TileSegments& segments, int thread, bool writes_zeros) {
  constexpr int kAtOnce = kUnit >= 4 ? 2 : 1;
  BACKSLICE_NO_UNROLL
  for (int k = 0; k < kVectorsPerThread; k += kAtOnce) {
    VectorSource<kUnit> sources[kAtOnce];
    Vector vectors[kAtOnce];
    BACKSLICE_UNROLL
    for (int i = 0; i < kAtOnce; ++i) sources[i].find(segments, vector_begin(k + i, thread));
    BACKSLICE_UNROLL
    for (int i = 0; i < kAtOnce; ++i) vectors[i] = sources[i].read();
    BACKSLICE_UNROLL
    for (int i = 0; i < kAtOnce; ++i) sources[i].write(segments, vectors[i], writes_zeros);
  }
}

// -- Short segments: groups of threads take one after the other, without a search. The whole tile is gathered in shared
// memory by asynchronous copies, then written in whole vectors: L2 handles a partly written sector twice.

inline constexpr int kGroup = 16, kGroups = kSegmentThreads / kGroup, kSectorBytes = 32;

struct alignas(kVectorBytes) StagedTile {
  std::byte bytes[kTileBytes];
};

// The items of a StagedTile, which are aligned.
template <int kBytes>
BACKSLICE_HD Item<kBytes> load_staged(const std::byte* from) {
#ifdef __CUDA_ARCH__
  return *reinterpret_cast<const Item<kBytes>*>(from);
#else
  return load<kBytes>(from);
#endif
}

template <int kBytes>
BACKSLICE_HD void store_staged(std::byte* to, Item<kBytes> item) {
#ifdef __CUDA_ARCH__
  *reinterpret_cast<Item<kBytes>*>(to) = item;
#else
  store<kBytes>(to, item);
#endif
}

// Copies one unit to a StagedTile; complete after __pipeline_wait_prior(0).
template <int kUnit>
BACKSLICE_HD void stage(std::byte* to, const std::byte* from) {
#ifdef __CUDA_ARCH__
  if constexpr (kUnit >= 4) return __pipeline_memcpy_async(to, from, kUnit);
#endif
  store_staged<kUnit>(to, load<kUnit>(from));
}

// Copies the steps of lane `lane` of a group's segment. Steps begin at sectors of the source, so that each is read
// once.
template <int kUnit>
BACKSLICE_HD void stage_segment(StagedTile& tile, const std::byte* base, int begin, int end, int lane) {
  constexpr int kStep = kGroup * kUnit, kSteps = 4;
  const int lead = static_cast<int>(address(base + begin) % kSectorBytes);
  for (int at = begin - lead + lane * kUnit; at < end; at += kSteps * kStep) {
    std::byte* to = tile.bytes + at;
    const std::byte* from = base + at;
    BACKSLICE_UNROLL
    for (int s = 0; s < kSteps; ++s) {
      if (at + s * kStep >= begin && at + s * kStep < end) stage<kUnit>(to + s * kStep, from + s * kStep);
    }
  }
}

template <int kUnit>
BACKSLICE_HD void stage_zeros(StagedTile& tile, int begin, int end, int lane) {
  for (int at = begin + lane * kUnit; at < end; at += kGroup * kUnit) store_staged<kUnit>(tile.bytes + at, {});
}

// Copies a thread's steps of all segments. All threads then wait for the copies.
template <int kUnit>
BACKSLICE_HD void stage_segments(const TileSegments& segments, StagedTile& tile, int thread) {
  const int lo = segments.lo(), hi = segments.hi();
  for (int segment = thread / kGroup; segment < segments.count(); segment += kGroups) {
    const int begin = segments.begin(segment), end = segments.begin(segment + 1);
    const int first = begin < lo ? lo : begin, last = end < hi ? end : hi;
    if (const std::byte* base = segments.base(segment)) {
      stage_segment<kUnit>(tile, base, first, last, thread % kGroup);
    } else {
      stage_zeros<kUnit>(tile, first, last, thread % kGroup);
    }
  }
}

// Writes a thread's vectors of the gathered tile.
template <int kUnit>
BACKSLICE_HD void write_staged(const TileSegments& segments, const StagedTile& tile, int thread) {
  const int lo = segments.lo(), hi = segments.hi();
  BACKSLICE_UNROLL
  for (int k = 0; k < kVectorsPerThread; ++k) {
    const int at = vector_begin(k, thread);
    const std::byte* from = tile.bytes + at;
    if (at >= lo && at + kVectorBytes <= hi) {
      store<16>(segments.dst(at), load_staged<16>(from));
      continue;
    }
    for (int u = 0; u < kVectorBytes; u += kUnit) {
      if (at + u < lo || at + u >= hi) continue;
      store<kUnit>(segments.dst(at + u), load_staged<kUnit>(from + u));
    }
  }
}

// -- Sums

// Computes the item at a byte of the tile.
template <int kBytes>
BACKSLICE_HD void sum_item(const SegmentTable& table, const TileSegments& segments, const Addition& addition,
                           SegmentSums sums, int at) {
  const int segment = segments.find(at);
  const std::byte* base = segments.base(segment);
  std::byte* to = segments.dst(at);
  if (sums == SegmentSums::AddTo) {
    if (base == nullptr) return;
    const Item<kBytes> term = load_item<kBytes>(base + at);
    return store_item<kBytes>(to, sums_of<kBytes>(addition, load_item<kBytes>(to), term));
  }
  Item<kBytes> sum{};
  if (base != nullptr) sum = load_item<kBytes>(base + at);
  const std::int64_t number = segments.number(segment), offset = to - table.dst - table.begin[number];
  for (std::int64_t t = table.first_term[number]; t < table.first_term[number + 1]; ++t) {
    sum = sums_of<kBytes>(addition, sum, load_item<kBytes>(table.terms[t] + offset));
  }
  store_item<kBytes>(to, sum);
}

// Computes a thread's items of a tile. Items are counted from the beginning of the destination. A tile may begin within
// an item, which belongs to the tile before.
template <int kBytes>
BACKSLICE_HD void sum_items(const SegmentTable& table, const TileSegments& segments, std::int64_t tile,
                            const Addition& addition, SegmentSums sums, int thread) {
  const std::int64_t before = tile_begin(table, tile);
  const int first = segments.lo() + static_cast<int>((kBytes - before % kBytes) % kBytes);
  for (int at = first + thread * kBytes; at < segments.hi(); at += kSegmentThreads * kBytes) {
    sum_item<kBytes>(table, segments, addition, sums, at);
  }
}

}  // namespace backslice::cuda
