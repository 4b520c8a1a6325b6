// Rows by ordinary stores: items spread with zeros between, zeros, many short rows. Included once for each target by
// foreach_target.h; the part under HWY_ONCE is compiled once.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/cpu/spread.cc"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include <algorithm>
#include <cstring>

#include "kernels/cpu/items-inl.h"
#include "kernels/cpu/targets.h"

HWY_BEFORE_NAMESPACE();
namespace backslice::HWY_NAMESPACE {
namespace {

// N items forwards or backwards into one vector, in the order they are to be written.
template <bool kBackward, class D>
hn::Vec<D> load_items(D d, const std::byte* src) {
  using T = hn::TFromD<D>;
  if constexpr (!kBackward) return hn::LoadU(d, reinterpret_cast<const T*>(src));
  const std::byte* lowest = src - (hn::Lanes(d) - 1) * sizeof(T);
  return reverse(d, hn::LoadU(d, reinterpret_cast<const T*>(lowest)));
}

// One vector of items and the zeros after each.
template <int kStep, class D>
void store_with_gaps(D d, hn::Vec<D> items, std::byte* dst) {
  auto* to = reinterpret_cast<hn::TFromD<D>*>(dst);
  const auto zero = hn::Zero(d);
  if constexpr (kStep == 1) hn::StoreU(items, d, to);
  if constexpr (kStep == 2) hn::StoreInterleaved2(items, zero, d, to);
  if constexpr (kStep == 3) hn::StoreInterleaved3(items, zero, zero, d, to);
  if constexpr (kStep == 4) hn::StoreInterleaved4(items, zero, zero, zero, d, to);
}

// The same for vectors of eight items, each of which is moved to its lane by one instruction, where de-interleaving
// takes several.
#if HWY_TARGET == HWY_AVX3
template <int kStep>
class EightLanes {
 public:
  EightLanes() {
    for (int k = 0; k < kStep; ++k) {
      std::int64_t from[8];
      unsigned taken = 0;
      for (int lane = 0; lane < 8; ++lane) {
        const int item = 8 * k + lane;
        from[lane] = item / kStep;
        if (item % kStep == 0) taken |= 1U << lane;
      }
      from_[k] = _mm512_loadu_si512(from);
      taken_[k] = static_cast<__mmask8>(taken);
    }
  }

  void store(hn::Vec512<std::uint64_t> items, std::byte* dst) const {
    for (int k = 0; k < kStep; ++k) {
      _mm512_storeu_si512(dst + 64 * k, _mm512_maskz_permutexvar_epi64(taken_[k], from_[k], items.raw));
    }
  }

 private:
  __m512i from_[kStep];
  __mmask8 taken_[kStep];
};
#endif

template <class D, int kStep>
class GapStore {
 public:
  void operator()(D d, hn::Vec<D> items, std::byte* dst) const { store_with_gaps<kStep>(d, items, dst); }
};

#if HWY_TARGET == HWY_AVX3
template <int kStep>
  requires(kStep > 1)
class GapStore<hn::ScalableTag<std::uint64_t>, kStep> {
 public:
  void operator()(hn::ScalableTag<std::uint64_t>, hn::Vec512<std::uint64_t> items, std::byte* dst) const {
    lanes_.store(items, dst);
  }

 private:
  EightLanes<kStep> lanes_;
};
#endif

template <class T, int kStep, bool kBackward>
void spread_vectors(std::byte* dst, const std::byte* src, std::int64_t count) {
  const hn::ScalableTag<T> d;
  const auto lanes = static_cast<std::int64_t>(hn::Lanes(d));
  constexpr auto kSize = static_cast<std::int64_t>(sizeof(T));
  constexpr std::int64_t kSrcStride = kBackward ? -kSize : kSize;
  // The zeros after the last item are not ours to write, so the last one is written alone.
  const std::int64_t limit = kStep == 1 ? count : count - 1;
  if (limit < lanes) return spread_scalar<T>(dst, src, count, kStep, kSrcStride);
  const GapStore<hn::ScalableTag<T>, kStep> store;
  const auto write = [&](std::int64_t i) {
    store(d, load_items<kBackward>(d, src + i * kSrcStride), dst + i * kStep * kSize);
  };
  // Memory is read faster upwards, so a source that is taken backwards is walked from its far end. The vector that ends
  // with the last items overlaps the one before.
  const std::int64_t whole = limit / lanes * lanes;
  if (kBackward && whole < limit) write(limit - lanes);
  for (std::int64_t k = 0; k < whole; k += lanes) write(kBackward ? whole - lanes - k : k);
  if (!kBackward && whole < limit) write(limit - lanes);
  if (kStep > 1) copy_item<T>(dst + limit * kStep * kSize, src + limit * kSrcStride);
}

// Every kStride-th item of the source, densely: the forward slice of a step.
template <class T, int kStride>
void gather_vectors(std::byte* dst, const std::byte* src, std::int64_t count) {
  const hn::ScalableTag<T> d;
  const auto lanes = static_cast<std::int64_t>(hn::Lanes(d));
  constexpr auto kSize = static_cast<std::int64_t>(sizeof(T));
  std::int64_t i = 0;
  // The items after the last one may not be there to read.
  for (; i + lanes < count; i += lanes) {
    const auto* from = reinterpret_cast<const T*>(src + i * kStride * kSize);
    hn::Vec<decltype(d)> a, b, c, e;
    if constexpr (kStride == 2) hn::LoadInterleaved2(d, from, a, b);
    if constexpr (kStride == 3) hn::LoadInterleaved3(d, from, a, b, c);
    if constexpr (kStride == 4) hn::LoadInterleaved4(d, from, a, b, c, e);
    hn::StoreU(a, d, reinterpret_cast<T*>(dst + i * kSize));
  }
  spread_scalar<T>(dst + i * kSize, src + i * kStride * kSize, count - i, 1, kStride * kSize);
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
  if (step == 1 && src_stride == 2 * kSize) return gather_vectors<T, 2>(dst, src, count);
  if (step == 1 && src_stride == 3 * kSize) return gather_vectors<T, 3>(dst, src, count);
  if (step == 1 && src_stride == 4 * kSize) return gather_vectors<T, 4>(dst, src, count);
  spread_scalar<T>(dst, src, count, step, src_stride);
}

void spread16(std::byte* dst, const std::byte* src, std::int64_t count, std::int64_t step, std::int64_t src_stride) {
  spread_scalar<Item16>(dst, src, count, step, src_stride);
}

// Copies at least one vector of bytes, the last one overlapping the one before.
template <class D>
void copy_run(D d, std::byte* dst, const std::byte* src, std::int64_t bytes) {
  const auto lanes = static_cast<std::int64_t>(hn::Lanes(d));
  auto* to = reinterpret_cast<std::uint8_t*>(dst);
  const auto* from = reinterpret_cast<const std::uint8_t*>(src);
  for (std::int64_t i = 0; i + lanes < bytes; i += lanes) hn::StoreU(hn::LoadU(d, from + i), d, to + i);
  hn::StoreU(hn::LoadU(d, from + bytes - lanes), d, to + bytes - lanes);
}

// Fewer than 16 bytes.
inline void copy_few(std::byte* dst, const std::byte* src, std::int64_t n) {
  if (n >= 8) {
    std::memcpy(dst, src, 8);
    std::memcpy(dst + n - 8, src + n - 8, 8);
  } else if (n >= 4) {
    std::memcpy(dst, src, 4);
    std::memcpy(dst + n - 4, src + n - 4, 4);
  } else {
    for (std::int64_t i = 0; i < n; ++i) dst[i] = src[i];
  }
}

// The first and the last vector may overlap their neighbours; those between are aligned, so that no store splits a
// line.
void zero(std::byte* dst, std::int64_t bytes) {
  const hn::ScalableTag<std::uint8_t> d;
  const auto lanes = static_cast<std::int64_t>(hn::Lanes(d));
  if (bytes < lanes) {
    for (std::int64_t i = 0; i < bytes; ++i) dst[i] = std::byte{0};
    return;
  }
  auto* to = reinterpret_cast<std::uint8_t*>(dst);
  const auto zero = hn::Zero(d);
  hn::StoreU(zero, d, to);
  const auto misaligned = static_cast<std::int64_t>(reinterpret_cast<std::uintptr_t>(dst) % hn::Lanes(d));
  for (std::int64_t i = lanes - misaligned; i + lanes <= bytes; i += lanes) hn::Store(zero, d, to + i);
  hn::StoreU(zero, d, to + bytes - lanes);
}

// Every byte once. Zeros may reach into the next run, which is written after them.
void rows_in_order(std::byte* dst, const std::byte* src, const ShortRows& shape) {
  const hn::ScalableTag<std::uint8_t> d;
  const auto lanes = static_cast<std::int64_t>(hn::Lanes(d));
  const auto none = hn::Zero(d);
  const std::int64_t gap = shape.row_bytes - shape.run_bytes;
  zero(dst, shape.run_start);
  dst += shape.run_start;
  for (std::int64_t row = 1; row < shape.rows; ++row, dst += gap, src += shape.src_stride) {
    copy_run(d, dst, src, shape.run_bytes);
    dst += shape.run_bytes;
    for (std::int64_t i = 0; i < gap; i += lanes) hn::StoreU(none, d, reinterpret_cast<std::uint8_t*>(dst) + i);
  }
  copy_run(d, dst, src, shape.run_bytes);
  zero(dst + shape.run_bytes, gap - shape.run_start);
}

void short_rows(std::byte* dst, const std::byte* src, const ShortRows& shape) {
  const hn::ScalableTag<std::uint8_t> d;
  const auto lanes = static_cast<std::int64_t>(hn::Lanes(d));
  // Shorter ones are zeroed together and then written again in part, which is faster.
  constexpr std::int64_t kInOrder = 512;
  if (shape.row_bytes > kInOrder && shape.run_bytes >= lanes) return rows_in_order(dst, src, shape);
  zero(dst, shape.rows * shape.row_bytes);
  dst += shape.run_start;
  const hn::CappedTag<std::uint8_t, 16> d16;
  for (std::int64_t row = 0; row < shape.rows; ++row, dst += shape.row_bytes, src += shape.src_stride) {
    if (shape.run_bytes >= lanes) {
      copy_run(d, dst, src, shape.run_bytes);
    } else if (shape.run_bytes >= 16) {
      copy_run(d16, dst, src, shape.run_bytes);
    } else {
      copy_few(dst, src, shape.run_bytes);
    }
  }
}

}  // namespace

void set_spread(RowKernels& rows) {
  rows.vector_bytes = static_cast<std::int64_t>(hn::Lanes(hn::ScalableTag<std::uint8_t>()));
  rows.spread[0] = spread<std::uint8_t>;
  rows.spread[1] = spread<std::uint16_t>;
  rows.spread[2] = spread<std::uint32_t>;
  rows.spread[3] = spread<std::uint64_t>;
  rows.spread[4] = spread16;
  rows.zero = zero;
  rows.short_rows = short_rows;
}

}  // namespace backslice::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace backslice {

void set_spread_rows(std::int64_t target, RowKernels& rows) {
  static constexpr PerTarget<void(RowKernels&)> kSetters[] = BACKSLICE_PER_TARGET(set_spread);
  call_for(target, kSetters, rows);
}

}  // namespace backslice
#endif
