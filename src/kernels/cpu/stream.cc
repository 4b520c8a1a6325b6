// Rows by stores that bypass the caches: whole lines, copied, zeroed, reversed, with gaps. Included once for each
// target by foreach_target.h; the part under HWY_ONCE is compiled once.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/cpu/stream.cc"
#include <hwy/cache_control.h>
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include <algorithm>

#include "kernels/cpu/items-inl.h"
#include "kernels/cpu/targets.h"

HWY_BEFORE_NAMESPACE();
namespace backslice::HWY_NAMESPACE {
namespace {

void stream_copy(std::byte* dst, const std::byte* src, std::int64_t bytes) {
  const hn::ScalableTag<std::uint8_t> d;
  const auto lanes = static_cast<std::int64_t>(hn::Lanes(d));
  for (std::int64_t i = 0; i < bytes; i += lanes) {
    hn::Stream(hn::LoadU(d, reinterpret_cast<const std::uint8_t*>(src) + i), d,
               reinterpret_cast<std::uint8_t*>(dst) + i);
  }
}

void stream_zero(std::byte* dst, std::int64_t bytes) {
  const hn::ScalableTag<std::uint8_t> d;
  const auto lanes = static_cast<std::int64_t>(hn::Lanes(d));
  const auto zero = hn::Zero(d);
  for (std::int64_t i = 0; i < bytes; i += lanes) hn::Stream(zero, d, reinterpret_cast<std::uint8_t*>(dst) + i);
}

// Returns a vector whose bytes from `first` to `end` are loaded from src; the others are zero.
template <class D>
HWY_INLINE hn::Vec<D> load_some(D d, const std::byte* src, std::int64_t first, std::int64_t end) {
#if HWY_TARGET == HWY_AVX3  // does not touch the memory of lanes that it does not load
  const auto lanes =
      hn::AndNot(hn::FirstN(d, static_cast<std::size_t>(first)), hn::FirstN(d, static_cast<std::size_t>(end)));
  return hn::MaskedLoad(lanes, d, reinterpret_cast<const std::uint8_t*>(src) - first);
#else
  alignas(kLine) std::uint8_t line[kLine] = {};
  std::memcpy(line + first, src, static_cast<std::size_t>(end - first));
  return hn::Load(d, line);
#endif
}

// Each line is composed in a register.
void stream_rows(std::byte* dst, const std::byte* src, const ShortRows& shape) {
  const hn::ScalableTag<std::uint8_t> d;
  const auto lanes = static_cast<std::int64_t>(hn::Lanes(d));
  const auto zero = hn::Zero(d);
  for (std::int64_t row = 0; row < shape.rows; ++row, dst += shape.row_bytes, src += shape.src_stride) {
    for (std::int64_t at = 0; at < shape.row_bytes; at += lanes) {
      const std::int64_t first = std::max<std::int64_t>(shape.run_start - at, 0);
      const std::int64_t end = std::min(shape.run_start + shape.run_bytes - at, lanes);
      const std::byte* const from = src + (at + first - shape.run_start);
      auto* const to = reinterpret_cast<std::uint8_t*>(dst + at);
      if (first >= end) {
        hn::Stream(zero, d, to);
      } else if (end - first == lanes) {
        hn::Stream(hn::LoadU(d, reinterpret_cast<const std::uint8_t*>(from)), d, to);
      } else {
        hn::Stream(load_some(d, from, first, end), d, to);
      }
    }
  }
}

// Walks the source upwards, since memory is read faster that way; the order of non-temporal stores does not matter.
template <class T>
void stream_reversed(std::byte* dst, const std::byte* src, std::int64_t bytes) {
  const hn::ScalableTag<T> d;
  const auto step = static_cast<std::int64_t>(hn::Lanes(d) * sizeof(T));
  const std::byte* lowest = src - bytes + sizeof(T);
  for (std::int64_t i = 0; i < bytes; i += step) {
    hn::Stream(reverse(d, hn::LoadU(d, reinterpret_cast<const T*>(lowest + i))), d,
               reinterpret_cast<T*>(dst + bytes - step - i));
  }
}

void stream_reversed16(std::byte* dst, const std::byte* src, std::int64_t bytes) {
#if HWY_TARGET == HWY_SCALAR
  spread_scalar<Item16>(dst, src, bytes / 16, 1, -16);
#else
  const hn::ScalableTag<std::uint64_t> d;
  const auto step = static_cast<std::int64_t>(hn::Lanes(d) * sizeof(std::uint64_t));
  const std::byte* lowest = src - bytes + 16;
  for (std::int64_t i = 0; i < bytes; i += step) {
    hn::Stream(hn::ReverseBlocks(d, hn::LoadU(d, reinterpret_cast<const std::uint64_t*>(lowest + i))), d,
               reinterpret_cast<std::uint64_t*>(dst + bytes - step - i));
  }
#endif
}

// An item and a zero are one item of twice the size: the machine is little-endian.
template <class T, class Wide>
void stream_spaced(std::byte* dst, const std::byte* src, std::int64_t bytes) {
  const hn::ScalableTag<Wide> wide;
  const hn::Rebind<T, decltype(wide)> narrow;
  const auto step = static_cast<std::int64_t>(hn::Lanes(wide) * sizeof(Wide));
  for (std::int64_t i = 0; i < bytes; i += step) {
    const auto items = hn::LoadU(narrow, reinterpret_cast<const T*>(src + i / 2));
    hn::Stream(hn::PromoteTo(wide, items), wide, reinterpret_cast<Wide*>(dst + i));
  }
}

void fence() { hwy::FlushStream(); }

}  // namespace

void set_stream(RowKernels& rows) {
  rows.stream_copy = stream_copy;
  rows.stream_zero = stream_zero;
  rows.stream_rows = stream_rows;
  rows.stream_reversed[0] = stream_reversed<std::uint8_t>;
  rows.stream_reversed[1] = stream_reversed<std::uint16_t>;
  rows.stream_reversed[2] = stream_reversed<std::uint32_t>;
  rows.stream_reversed[3] = stream_reversed<std::uint64_t>;
  rows.stream_reversed[4] = stream_reversed16;
  rows.stream_spaced[0] = stream_spaced<std::uint8_t, std::uint16_t>;
  rows.stream_spaced[1] = stream_spaced<std::uint16_t, std::uint32_t>;
  rows.stream_spaced[2] = stream_spaced<std::uint32_t, std::uint64_t>;
  rows.fence = fence;
}

}  // namespace backslice::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace backslice {

void set_stream_rows(std::int64_t target, RowKernels& rows) {
  static constexpr PerTarget kSetters[] = BACKSLICE_PER_TARGET(set_stream);
  set_for(target, kSetters, rows);
}

}  // namespace backslice
#endif
