// Items in vectors: what spreading and streaming rows share. Included once for each target.
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

// Calls row(dst, src, count, dst stride, src stride) for the rows of a plane, or for its columns where these are longer
// and rows are short: some at a time, whose lines stay in the L1 cache.
template <class Row>
HWY_INLINE void for_each_long_row(std::byte* dst, const std::byte* src, const Plane& shared, const Row& row) {
  constexpr std::int64_t kBlock = kTuning.rows_in_cache;
  const Plane plane = shared;  // of its own: stores through bytes could change one that others see
  if (plane.count >= kTuning.short_items || plane.rows <= plane.count) {
    for (std::int64_t i = 0; i < plane.rows; ++i) {
      row(dst + i * plane.row_dst, src + i * plane.row_src, plane.count, plane.dst_stride, plane.src_stride);
    }
    return;
  }
  for (std::int64_t first = 0; first < plane.rows; first += kBlock) {
    const std::int64_t rows = std::min(kBlock, plane.rows - first);
    std::byte* const to = dst + first * plane.row_dst;
    const std::byte* const from = src + first * plane.row_src;
    for (std::int64_t i = 0; i < plane.count; ++i) {
      row(to + i * plane.dst_stride, from + i * plane.src_stride, rows, plane.row_dst, plane.row_src);
    }
  }
}

// Item by item, any stride: what is left when no vector form applies.
template <class T>
HWY_MAYBE_UNUSED void spread_scalar(std::byte* dst, const std::byte* src, std::int64_t count, std::int64_t step,
                                    std::int64_t src_stride) {
  if (step > 1) std::memset(dst, 0, static_cast<std::size_t>((count - 1) * step + 1) * sizeof(T));
  for (std::int64_t i = 0; i < count; ++i, dst += step * static_cast<std::int64_t>(sizeof(T)), src += src_stride) {
    copy_item<T>(dst, src);
  }
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
