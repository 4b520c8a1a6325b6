// Items in vectors, for rows that are spread and streamed. Included once for each target.
#if defined(BACKSLICE_KERNELS_CPU_ITEMS_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef BACKSLICE_KERNELS_CPU_ITEMS_INL_H_
#undef BACKSLICE_KERNELS_CPU_ITEMS_INL_H_
#else
#define BACKSLICE_KERNELS_CPU_ITEMS_INL_H_
#endif

#include <hwy/highway.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>

#include "core/tuning.h"
#include "kernels/cpu/rows.h"

HWY_BEFORE_NAMESPACE();
namespace backslice::HWY_NAMESPACE {
namespace {

namespace hn = hwy::HWY_NAMESPACE;

template <class T>
HWY_INLINE void copy_item(std::byte* dst, const std::byte* src) {
  std::memcpy(dst, src, sizeof(T));
}

// Number of items per step of a loop: the processor's prefetching follows each load separately, and so looks further
// ahead.
inline constexpr int kAtOnce = 8;

// Calls row(dst, src, count, dst stride, src stride) for the rows of a plane of items of so many bytes. If rows are
// short and close together, it calls it for columns instead, some at a time, so that they stay in the L1 cache.
template <std::size_t kSize, class Row>
HWY_INLINE void for_each_long_row(std::byte* dst, const std::byte* src, const Plane& shared, const Row& row) {
  constexpr auto kShort = std::min<std::int64_t>(kTuning.short_items, kLine / static_cast<std::int64_t>(kSize));
  Plane plane = shared;                                  // a copy: stores through bytes could change it
  if (-plane.src_stride > std::abs(plane.dst_stride)) {  // memory is walked faster upwards: choose the larger side
    dst += (plane.count - 1) * plane.dst_stride, src += (plane.count - 1) * plane.src_stride;
    plane.dst_stride = -plane.dst_stride, plane.src_stride = -plane.src_stride;
  }
  const std::int64_t row_bytes = std::abs(plane.row_dst) + std::abs(plane.row_src) + 1;
  if (plane.count >= kShort || plane.rows <= plane.count || row_bytes > kTuning.far_apart) {
    const std::int64_t ahead = row_bytes > kTuning.far_apart ? std::min<std::int64_t>(plane.count, 4) : 0;
    for (std::int64_t i = 0; i < plane.rows; ++i) {
      // Prefetches the beginning of the next row, which the processor does not predict. (Without a next row, nothing is
      // read.)
      for (std::int64_t k = 0; k < ahead; ++k) __builtin_prefetch(src + (i + 1) * plane.row_src + k * plane.src_stride);
      row(dst + i * plane.row_dst, src + i * plane.row_src, plane.count, plane.dst_stride, plane.src_stride);
    }
    return;
  }
  const std::int64_t block = kTuning.box / row_bytes;  // only some, since rows are close together
  for (std::int64_t first = 0; first < plane.rows; first += block) {
    const std::int64_t rows = std::min(block, plane.rows - first);
    std::byte* const to = dst + first * plane.row_dst;
    const std::byte* const from = src + first * plane.row_src;
    for (std::int64_t i = 0; i < plane.count; ++i) {
      row(to + i * plane.dst_stride, from + i * plane.src_stride, rows, plane.row_dst, plane.row_src);
    }
  }
}

// Moves item by item, with any stride, if no vector form applies.
template <class T>
HWY_MAYBE_UNUSED void spread_scalar(std::byte* dst, const std::byte* src, std::int64_t count, std::int64_t step,
                                    std::int64_t src_stride) {
  if (step > 1) std::memset(dst, 0, static_cast<std::size_t>((count - 1) * step + 1) * sizeof(T));
  for (std::int64_t i = 0; i < count; ++i, dst += step * static_cast<std::int64_t>(sizeof(T)), src += src_stride) {
    copy_item<T>(dst, src);
  }
}

// Returns how many of the next items lie before the first position at which vector stores do not cross cache lines.
HWY_INLINE std::int64_t items_to_line(const std::byte* dst, std::int64_t size, std::int64_t lanes) {
  const auto misaligned = static_cast<std::int64_t>(reinterpret_cast<std::uintptr_t>(dst)) & (lanes * size - 1);
  return lanes - misaligned / size;
}

// Returns how many of the items before it lie after the last such position.
HWY_INLINE std::int64_t items_before_line(const std::byte* end, std::int64_t size, std::int64_t lanes) {
  return lanes - items_to_line(end, size, lanes);
}

struct Item16 {
  std::uint64_t halves[2];
};

template <class D>
hn::Vec<D> reverse(D d, hn::Vec<D> items) {
  if constexpr (HWY_TARGET == HWY_SCALAR) {
    return items;  // one lane
  } else if constexpr (sizeof(hn::TFromD<D>) > 1) {
    return hn::Reverse(d, items);
  } else {  // Highway 1.0.3 has no reversal of bytes: reverse pairs, then swap within each
    const hn::RepartitionToWide<D> pairs;
    const auto reversed = hn::Reverse(pairs, hn::BitCast(pairs, items));
    return hn::BitCast(d, hn::Or(hn::ShiftLeft<8>(reversed), hn::ShiftRight<8>(reversed)));
  }
}

}  // namespace
}  // namespace backslice::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();
#endif
