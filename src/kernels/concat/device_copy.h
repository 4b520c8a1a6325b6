// What one thread of a block does to copy the segments of a tile, for kernels and for tests on the CPU.
//
// All addresses and sizes are multiples of kUnit bytes. The destination is written in vectors: each thread finds where
// the units of its own come from, or, where segments are short, groups of threads first gather them in shared memory.
#pragma once

#ifdef __CUDACC__
#include <cuda_pipeline.h>
#endif

#include "kernels/concat/device_segments.h"
#include "kernels/cuda/addition.h"
#include "kernels/cuda/portable.h"

namespace backslice::cuda {

inline constexpr int kVectorsPerThread = kTileBytes / kVectorBytes / kSegmentThreads;

// Where vector number k of a thread begins in the tile.
BACKSLICE_HD int vector_begin(int k, int thread) {
  return (k * kSegmentThreads + thread) * static_cast<int>(kVectorBytes);
}

// Where the units of a vector come from: null for zeros, and for bytes that are not the destination's.
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

// A thread's vectors. It finds where two come from, then reads them, then writes them. Of narrow units it takes one
// vector at a time, for which it has registers enough.
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

// -- Short segments: groups of threads take one after the other, which needs no search. All of a tile is gathered in
// shared memory, without waiting, and then written in whole vectors: L2 takes a sector that is written in parts twice.

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

// One unit to a StagedTile; complete after __pipeline_wait_prior(0).
template <int kUnit>
BACKSLICE_HD void stage(std::byte* to, const std::byte* from) {
#ifdef __CUDA_ARCH__
  if constexpr (kUnit >= 4) return __pipeline_memcpy_async(to, from, kUnit);
#endif
  store_staged<kUnit>(to, load<kUnit>(from));
}

// Of a group's part of a segment, what lane `lane` of it does. Its steps begin where sectors of the source do, so that
// each is read once.
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

// A thread's part of all segments. The copies are then waited for, by all threads.
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

// Writes a thread's vectors of what was gathered.
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

// What becomes of the item at a byte of the tile.
template <int kBytes>
BACKSLICE_HD void sum_item(const SegmentTable& table, const TileSegments& segments, const Addition& addition,
                           bool is_aligned, SegmentSums sums, int at) {
  const int segment = segments.find(at);
  const std::byte* base = segments.base(segment);
  std::byte* to = segments.dst(at);
  if (sums == SegmentSums::AddTo) {
    if (base == nullptr) return;
    const Item<kBytes> term = load_item<kBytes>(base + at, is_aligned);
    return store_item<kBytes>(to, sums_of<kBytes>(addition, load_item<kBytes>(to, is_aligned), term), is_aligned);
  }
  Item<kBytes> sum{};
  if (base != nullptr) sum = load_item<kBytes>(base + at, is_aligned);
  const std::int64_t number = segments.number(segment), offset = to - table.dst - table.begin[number];
  for (std::int64_t t = table.first_term[number]; t < table.first_term[number + 1]; ++t) {
    sum = sums_of<kBytes>(addition, sum, load_item<kBytes>(table.terms[t] + offset, is_aligned));
  }
  store_item<kBytes>(to, sum, is_aligned);
}

// A thread's items of a tile. They are counted from the destination's first: a tile may begin within one, which belongs
// to the tile before it.
template <int kBytes>
BACKSLICE_HD void sum_items(const SegmentTable& table, const TileSegments& segments, std::int64_t tile,
                            const Addition& addition, bool is_aligned, SegmentSums sums, int thread) {
  const std::int64_t before = tile_begin(table, tile);
  const int first = segments.lo() + static_cast<int>((kBytes - before % kBytes) % kBytes);
  for (int at = first + thread * kBytes; at < segments.hi(); at += kSegmentThreads * kBytes) {
    sum_item<kBytes>(table, segments, addition, is_aligned, sums, at);
  }
}

}  // namespace backslice::cuda
