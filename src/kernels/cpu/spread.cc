// Rows by ordinary stores: items with zeros between them, items at the positions of set bits, zeros. Included once for
// each target by foreach_target.h; the part under HWY_ONCE is compiled once.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/cpu/spread.cc"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include <algorithm>
#include <bit>
#include <cstring>

#include "kernels/cpu/items-inl.h"
#include "kernels/cpu/targets.h"

#ifndef BACKSLICE_KERNELS_CPU_SPREAD_PLACES_
#define BACKSLICE_KERNELS_CPU_SPREAD_PLACES_
namespace backslice {

// For each set of eight lanes and each lane: the rank of the lane in the set, -1 for lanes outside the set.
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

// Loads N items forwards or backwards into one vector, in the order of the output.
template <bool kBackward, class D>
hn::Vec<D> load_items(D d, const std::byte* src) {
  using T = hn::TFromD<D>;
  if constexpr (!kBackward) return hn::LoadU(d, reinterpret_cast<const T*>(src));
  const std::byte* lowest = src - (hn::Lanes(d) - 1) * sizeof(T);
  return reverse(d, hn::LoadU(d, reinterpret_cast<const T*>(lowest)));
}

// Stores one vector of items and the zeros after each.
template <int kStep, class D>
void store_with_gaps(D d, hn::Vec<D> items, std::byte* dst) {
  auto* to = reinterpret_cast<hn::TFromD<D>*>(dst);
  const auto zero = hn::Zero(d);
  if constexpr (kStep == 1) hn::StoreU(items, d, to);
  if constexpr (kStep == 2) hn::StoreInterleaved2(items, zero, d, to);
  if constexpr (kStep == 3) hn::StoreInterleaved3(items, zero, zero, d, to);
  if constexpr (kStep == 4) hn::StoreInterleaved4(items, zero, zero, zero, d, to);
}

// The same for items of 4 and 8 bytes. One instruction moves each to its lane; de-interleaving takes several.
#if HWY_TARGET == HWY_AVX3
template <class T, int kStep>
class PlacedLanes {
 public:
  PlacedLanes() {
    for (int k = 0; k < kStep; ++k) {
      T from[kLanes];
      unsigned taken = 0;
      for (int lane = 0; lane < kLanes; ++lane) {
        const int item = kLanes * k + lane;
        from[lane] = static_cast<T>(item / kStep);
        if (item % kStep == 0) taken |= 1U << lane;
      }
      from_[k] = _mm512_loadu_si512(from);
      taken_[k] = static_cast<Mask>(taken);
    }
  }

  void store(hn::Vec512<T> items, std::byte* dst) const {
    for (int k = 0; k < kStep; ++k) _mm512_storeu_si512(dst + 64 * k, placed(items.raw, k));
  }

  // Stores at most one vector of items, without the zeros after the last.
  void store_last(const std::byte* src, std::int64_t count, std::byte* dst) const {
    const __m512i items = load_first(src, first_lanes(count));
    std::int64_t left = (count - 1) * kStep + 1;
    for (int k = 0; k < kStep && left > 0; ++k, left -= kLanes) {
      store_first(dst + 64 * k, first_lanes(left), placed(items, k));
    }
  }

 private:
  static constexpr int kLanes = 64 / sizeof(T);
  static constexpr bool kIs8 = sizeof(T) == 8;
  using Mask = std::conditional_t<kIs8, __mmask8, __mmask16>;

  static Mask first_lanes(std::int64_t count) {
    return static_cast<Mask>((1U << std::min<std::int64_t>(count, kLanes)) - 1);
  }
  static __m512i load_first(const std::byte* src, Mask lanes) {
    if constexpr (kIs8) return _mm512_maskz_loadu_epi64(lanes, src);
    return _mm512_maskz_loadu_epi32(static_cast<__mmask16>(lanes), src);
  }
  static void store_first(std::byte* dst, Mask lanes, __m512i items) {
    if constexpr (kIs8) return _mm512_mask_storeu_epi64(dst, lanes, items);
    _mm512_mask_storeu_epi32(dst, static_cast<__mmask16>(lanes), items);
  }
  __m512i placed(__m512i items, int k) const {
    if constexpr (kIs8) return _mm512_maskz_permutexvar_epi64(taken_[k], from_[k], items);
    return _mm512_maskz_permutexvar_epi32(static_cast<__mmask16>(taken_[k]), from_[k], items);
  }

  __m512i from_[kStep];
  Mask taken_[kStep];
};
#endif

template <class T, int kStep>
class GapStore {
 public:
  static constexpr bool kStoresLast = false;
  void store(hn::Vec<hn::ScalableTag<T>> items, std::byte* dst) const {
    store_with_gaps<kStep>(hn::ScalableTag<T>(), items, dst);
  }
};

#if HWY_TARGET == HWY_AVX3
template <class T, int kStep>
  requires(kStep > 1 && sizeof(T) >= 4)
class GapStore<T, kStep> : public PlacedLanes<T, kStep> {
 public:
  static constexpr bool kStoresLast = true;
};
#endif

template <class T, int kStep, bool kBackward>
void spread_vectors(std::byte* dst, const std::byte* src, std::int64_t count) {
  const hn::ScalableTag<T> d;
  const auto lanes = static_cast<std::int64_t>(hn::Lanes(d));
  constexpr auto kSize = static_cast<std::int64_t>(sizeof(T));
  constexpr std::int64_t kSrcStride = kBackward ? -kSize : kSize;
  const GapStore<T, kStep> gaps;
  const auto write = [&](std::int64_t i) {
    gaps.store(load_items<kBackward>(d, src + i * kSrcStride), dst + i * kStep * kSize);
  };
  if constexpr (gaps.kStoresLast && !kBackward) {  // aligned with the earlier ones: stores across pages are slow
    std::int64_t i = 0;
    for (; i + lanes < count; i += lanes) write(i);
    return gaps.store_last(src + i * kSize, count - i, dst + i * kStep * kSize);
  }
  // The zeros after the last item are outside the destination, so the last item is written alone.
  const std::int64_t limit = kStep == 1 ? count : count - 1;
  if (limit < lanes) return spread_scalar<T>(dst, src, count, kStep, kSrcStride);
  // Memory is read faster upwards, so a reversed source is walked from its far end. The vector with the last items
  // overlaps the one before.
  const std::int64_t whole = limit / lanes * lanes;
  if (kBackward && whole < limit) write(limit - lanes);
  for (std::int64_t k = 0; k < whole; k += lanes) write(kBackward ? whole - lanes - k : k);
  if (!kBackward && whole < limit) write(limit - lanes);
  if (kStep > 1) copy_item<T>(dst + limit * kStep * kSize, src + limit * kSrcStride);
}

template <class T, bool kBackward>
bool spread_dense_source(std::byte* dst, const std::byte* src, std::int64_t count, std::int64_t step) {
  switch (step) {
    case 1: spread_vectors<T, 1, kBackward>(dst, src, count); return true;
    case 2: spread_vectors<T, 2, kBackward>(dst, src, count); return true;
    case 3: spread_vectors<T, 3, kBackward>(dst, src, count); return true;
    case 4: spread_vectors<T, 4, kBackward>(dst, src, count); return true;
    default: return false;
  }
}

template <class T>
void spread(std::byte* dst, const std::byte* src, std::int64_t count, std::int64_t step, std::int64_t src_stride) {
  constexpr auto kSize = static_cast<std::int64_t>(sizeof(T));
  if (src_stride == kSize && spread_dense_source<T, false>(dst, src, count, step)) return;
  if (src_stride == -kSize && spread_dense_source<T, true>(dst, src, count, step)) return;
  spread_scalar<T>(dst, src, count, step, src_stride);
}

void spread16(std::byte* dst, const std::byte* src, std::int64_t count, std::int64_t step, std::int64_t src_stride) {
  spread_scalar<Item16>(dst, src, count, step, src_stride);
}

// The first and the last vector may overlap their neighbours; those between are aligned, so that no store crosses a
// line.
void zero(std::byte* dst, std::int64_t bytes) {
  const hn::ScalableTag<std::uint8_t> d;
  const auto lanes = static_cast<std::int64_t>(hn::Lanes(d));
  auto* to = reinterpret_cast<std::uint8_t*>(dst);
  if (bytes < lanes) {
    const hn::CappedTag<std::uint8_t, 16> d16;
    const auto lanes16 = static_cast<std::int64_t>(hn::Lanes(d16));
    std::int64_t i = 0;
    for (; i + lanes16 <= bytes; i += lanes16) hn::StoreU(hn::Zero(d16), d16, to + i);
    if (i > 0) return hn::StoreU(hn::Zero(d16), d16, to + bytes - lanes16);
    for (; i < bytes; ++i) to[i] = 0;
    return;
  }
  const auto zero = hn::Zero(d);
  hn::StoreU(zero, d, to);
  const auto misaligned = static_cast<std::int64_t>(reinterpret_cast<std::uintptr_t>(dst) % hn::Lanes(d));
  for (std::int64_t i = lanes - misaligned; i + lanes <= bytes; i += lanes) hn::Store(zero, d, to + i);
  hn::StoreU(zero, d, to + bytes - lanes);
}

// -- Dense items moved to the positions of set bits

// If the machine has instructions for it; on others, moving items one by one is as fast.
#if HWY_TARGET == HWY_AVX3
template <class T>
constexpr bool kExpands = true;

// Puts the first items of the vector at the lanes of the set, in order, and zeros at the others. (Highway 1.0.3 has no
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

void set_spread(RowKernels& rows) {
  rows.vector_bytes = static_cast<std::int64_t>(hn::Lanes(hn::ScalableTag<std::uint8_t>()));
  rows.spread[0] = spread<std::uint8_t>;
  rows.spread[1] = spread<std::uint16_t>;
  rows.spread[2] = spread<std::uint32_t>;
  rows.spread[3] = spread<std::uint64_t>;
  rows.spread[4] = spread16;
  rows.zero = zero;
  rows.expand[2] = kExpand<std::int32_t>;
  rows.expand[3] = kExpand<std::int64_t>;
}

}  // namespace backslice::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace backslice {

void set_spread_rows(std::int64_t target, RowKernels& rows) {
  static constexpr PerTarget kSetters[] = BACKSLICE_PER_TARGET(set_spread);
  set_for(target, kSetters, rows);
}

}  // namespace backslice
#endif
