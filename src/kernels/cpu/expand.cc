// Dense items moved apart to where bits are set. Included once for each target by foreach_target.h; the part under
// HWY_ONCE is compiled once.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/cpu/expand.cc"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include <bit>
#include <cstring>

#include "kernels/cpu/items-inl.h"
#include "kernels/cpu/targets.h"

#ifndef BACKSLICE_KERNELS_CPU_EXPAND_PLACES_
#define BACKSLICE_KERNELS_CPU_EXPAND_PLACES_
namespace backslice {

// For each set of eight lanes and each lane in it: the how-manieth of the set it is. -1 for lanes that are not in it.
struct PlacesInSet {
  constexpr PlacesInSet() {
    for (unsigned set = 0; set < 256; ++set) {
      std::int8_t next = 0;
      for (unsigned lane = 0; lane < 8; ++lane) of[set][lane] = (set >> lane & 1) != 0 ? next++ : std::int8_t{-1};
    }
  }
  std::int8_t of[256][8] = {};
};
inline constexpr PlacesInSet kPlacesInSet;

}  // namespace backslice
#endif

HWY_BEFORE_NAMESPACE();
namespace backslice::HWY_NAMESPACE {
namespace {

// Where the machine has instructions for it; elsewhere items are moved one by one as fast.
#if HWY_TARGET == HWY_AVX3
template <class T>
constexpr bool kExpands = true;

// The first items of the vector at the lanes of the set, in order, and zeros at the others. (Highway 1.0.3 has no
// Expand.)
template <class T>
HWY_INLINE hn::Vec512<T> expanded(hn::Vec512<T> items, std::uint64_t set) {
  if constexpr (sizeof(T) == 4) {
    return hn::Vec512<T>{_mm512_maskz_expand_epi32(static_cast<__mmask16>(set), items.raw)};
  } else {
    return hn::Vec512<T>{_mm512_maskz_expand_epi64(static_cast<__mmask8>(set), items.raw)};
  }
}
#elif HWY_TARGET == HWY_AVX2
template <class T>
constexpr bool kExpands = sizeof(T) == 4;

template <class T>
HWY_INLINE hn::Vec256<T> expanded(hn::Vec256<T> items, std::uint64_t set) {
  const hn::Full256<T> d;
  const auto places = hn::PromoteTo(d, hn::LoadU(hn::Rebind<std::int8_t, decltype(d)>(), kPlacesInSet.of[set & 0xff]));
  const auto moved = hn::TableLookupLanes(items, hn::IndicesFromVec(d, hn::And(places, hn::Set(d, 7))));
  return hn::IfThenZeroElse(hn::Lt(places, hn::Zero(d)), moved);
}
#else
template <class T>
constexpr bool kExpands = false;
#endif

template <class T>
class Expansion {
 public:
  Expansion(std::byte* dst, const std::byte* src, std::int64_t src_count)
      : dst_(dst), src_(src), src_end_(src + src_count * kSize) {}

  // Writes the items of these bits.
  HWY_INLINE void add_vector(std::uint64_t bits) {
    if constexpr (kExpands<T>) {
      const hn::ScalableTag<T> d;
      const auto lanes = static_cast<std::int64_t>(hn::Lanes(d));
      if (src_end_ - src_ < lanes * kSize) return add_items(bits, lanes);
      hn::StoreU(expanded<T>(hn::LoadU(d, reinterpret_cast<const T*>(src_)), bits), d, reinterpret_cast<T*>(dst_));
      dst_ += lanes * kSize;
      src_ += std::popcount(bits) * kSize;
    }
  }

  HWY_INLINE void add_items(std::uint64_t bits, std::int64_t count) {
    std::memset(dst_, 0, static_cast<std::size_t>(count * kSize));
    for (; bits != 0; bits &= bits - 1, src_ += kSize) {
      std::memcpy(dst_ + std::countr_zero(bits) * kSize, src_, sizeof(T));
    }
    dst_ += count * kSize;
  }

 private:
  static constexpr auto kSize = static_cast<std::int64_t>(sizeof(T));
  std::byte* dst_;
  const std::byte *src_, *src_end_;
};

template <class T>
void expand(std::byte* dst, const std::byte* src, std::int64_t src_count, const std::uint64_t* words,
            std::int64_t count) {
  const auto lanes = static_cast<std::int64_t>(hn::Lanes(hn::ScalableTag<T>()));
  const std::uint64_t all_lanes = (std::uint64_t{1} << lanes) - 1;
  Expansion<T> expansion(dst, src, src_count);
  std::int64_t i = 0;
  for (; i + lanes <= count; i += lanes) expansion.add_vector(words[i / 64] >> (i % 64) & all_lanes);
  if (i < count) expansion.add_items(words[i / 64] >> (i % 64), count - i);
}

template <class T>
constexpr ExpandRow kExpand = kExpands<T> ? expand<T> : nullptr;

}  // namespace

void set_expand(RowKernels& rows) {
  rows.expand[2] = kExpand<std::int32_t>;
  rows.expand[3] = kExpand<std::int64_t>;
}

}  // namespace backslice::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace backslice {

void set_expand_rows(std::int64_t target, RowKernels& rows) {
  static constexpr PerTarget<void(RowKernels&)> kSetters[] = BACKSLICE_PER_TARGET(set_expand);
  call_for(target, kSetters, rows);
}

}  // namespace backslice
#endif
