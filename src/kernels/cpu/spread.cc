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

template <class T, int kStep, bool kBackward>
void spread_vectors(std::byte* dst, const std::byte* src, std::int64_t count) {
  const hn::ScalableTag<T> d;
  const auto lanes = static_cast<std::int64_t>(hn::Lanes(d));
  constexpr auto kSize = static_cast<std::int64_t>(sizeof(T));
  constexpr std::int64_t kSrcStride = kBackward ? -kSize : kSize;
  // The zeros after the last item are not ours to write, so the last one is left to the scalar loop.
  const std::int64_t limit = kStep == 1 ? count : count - 1;
  const std::int64_t whole = std::max<std::int64_t>(limit, 0) / lanes * lanes;
  if (whole < count) {
    spread_scalar<T>(dst + whole * kStep * kSize, src + whole * kSrcStride, count - whole, kStep, kSrcStride);
  }
  // Memory is read faster upwards, so a source that is taken backwards is walked from its far end.
  for (std::int64_t k = 0; k < whole; k += lanes) {
    const std::int64_t i = kBackward ? whole - lanes - k : k;
    store_with_gaps<kStep>(d, load_items<kBackward>(d, src + i * kSrcStride), dst + i * kStep * kSize);
  }
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

void short_rows(std::byte* dst, const std::byte* src, const ShortRows& shape) {
  const hn::ScalableTag<std::uint8_t> d;
  const auto lanes = static_cast<std::int64_t>(hn::Lanes(d));
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
