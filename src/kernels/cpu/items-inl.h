// Items in vectors: what spreading and streaming rows share. Included once for each target.
#if defined(BACKSLICE_KERNELS_CPU_ITEMS_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef BACKSLICE_KERNELS_CPU_ITEMS_INL_H_
#undef BACKSLICE_KERNELS_CPU_ITEMS_INL_H_
#else
#define BACKSLICE_KERNELS_CPU_ITEMS_INL_H_
#endif

#include <hwy/highway.h>

#include <cstddef>
#include <cstdint>
#include <cstring>

HWY_BEFORE_NAMESPACE();
namespace backslice::HWY_NAMESPACE {
namespace {

namespace hn = hwy::HWY_NAMESPACE;

template <class T>
HWY_INLINE void copy_item(std::byte* dst, const std::byte* src) {
  std::memcpy(dst, src, sizeof(T));
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
