// What one thread of a block does to add the segments of a tile, for kernels and for tests on the CPU.
#pragma once

#include "kernels/concat/device_segments.h"
#include "kernels/cuda/addition.h"
#include "kernels/cuda/unaligned.h"

namespace backslice::cuda {

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
