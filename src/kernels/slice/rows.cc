// Included once for each target by foreach_target.h; the part under HWY_ONCE is compiled once.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/slice/rows.cc"
#include "kernels/slice/rows.h"

#include <hwy/cache_control.h>
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>

#include "backslice/targets.h"
#include "core/errors.h"
#include "core/visit_dtype.h"

HWY_BEFORE_NAMESPACE();
namespace backslice::HWY_NAMESPACE {
namespace {

namespace hn = hwy::HWY_NAMESPACE;

template <class T>
void copy_item(std::byte* dst, const std::byte* src) {
  std::memcpy(dst, src, sizeof(T));
}

// Item by item, any stride: what is left when no vector form applies.
template <class T>
void spread_scalar(std::byte* dst, const std::byte* src, std::int64_t count, std::int64_t step,
                   std::int64_t src_stride) {
  if (step > 1) std::memset(dst, 0, static_cast<std::size_t>(((count - 1) * step + 1) * sizeof(T)));
  for (std::int64_t i = 0; i < count; ++i, dst += step * static_cast<std::int64_t>(sizeof(T)), src += src_stride) {
    copy_item<T>(dst, src);
  }
}

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

struct Item16 {
  std::uint64_t halves[2];
};

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

// Walks the source upwards, as memory is read faster that way; the order of non-temporal stores does not matter.
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

// An item of twice the size that begins with ours and ends in zeros is ours and a zero: the machine is little-endian.
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

// Rows of T, kParts lanes an element.
template <class T, int kParts = 1>
void add_lanes(std::byte* dst, const std::byte* src, std::int64_t count) {
  const hn::ScalableTag<T> d;
  const auto lanes = static_cast<std::int64_t>(hn::Lanes(d));
  const std::int64_t total = count * kParts;
  auto* to = reinterpret_cast<T*>(dst);
  const auto* from = reinterpret_cast<const T*>(src);
  std::int64_t i = 0;
  for (; i + lanes <= total; i += lanes) {
    hn::StoreU(hn::Add(hn::LoadU(d, to + i), hn::LoadU(d, from + i)), d, to + i);
  }
  for (; i < total; ++i) {
    T a, b;
    std::memcpy(&a, dst + i * static_cast<std::int64_t>(sizeof(T)), sizeof(T));
    std::memcpy(&b, src + i * static_cast<std::int64_t>(sizeof(T)), sizeof(T));
    a = static_cast<T>(a + b);
    std::memcpy(dst + i * static_cast<std::int64_t>(sizeof(T)), &a, sizeof(T));
  }
}

// Elements that are added in a wider form: Sum adds one vector of 16-bit patterns.
template <class Element, class Sum>
void add_in_float(std::byte* dst, const std::byte* src, std::int64_t count, Sum sum) {
  const hn::ScalableTag<float> wide;
  const hn::Rebind<std::uint16_t, decltype(wide)> narrow;
  const auto lanes = static_cast<std::int64_t>(hn::Lanes(wide));
  auto* to = reinterpret_cast<std::uint16_t*>(dst);
  const auto* from = reinterpret_cast<const std::uint16_t*>(src);
  std::int64_t i = 0;
  for (; i + lanes <= count; i += lanes) {
    hn::StoreU(sum(hn::LoadU(narrow, to + i), hn::LoadU(narrow, from + i)), narrow, to + i);
  }
  for (; i < count; ++i) {
    Element a, b;
    std::memcpy(&a, dst + 2 * i, 2);
    std::memcpy(&b, src + 2 * i, 2);
    a = a + b;
    std::memcpy(dst + 2 * i, &a, 2);
  }
}

// bfloat16 is the upper half of a float32. Highway 1.0.3 would truncate on the way back; this rounds to nearest even.
void add_bfloat16(std::byte* dst, const std::byte* src, std::int64_t count) {
  const hn::ScalableTag<float> f32;
  const hn::RebindToUnsigned<decltype(f32)> u32;
  const hn::Rebind<std::uint16_t, decltype(f32)> u16;
  const auto widen = [&](auto bits) { return hn::BitCast(f32, hn::ShiftLeft<16>(hn::PromoteTo(u32, bits))); };
  add_in_float<BFloat16>(dst, src, count, [&](auto a, auto b) {
    const auto sum = hn::Add(widen(a), widen(b));
    const auto bits = hn::BitCast(u32, sum);
    const auto odd = hn::And(hn::ShiftRight<16>(bits), hn::Set(u32, 1));
    const auto rounded = hn::ShiftRight<16>(hn::Add(bits, hn::Add(odd, hn::Set(u32, 0x7fff))));
    const auto sign = hn::And(hn::ShiftRight<16>(bits), hn::Set(u32, 0x8000));
    const auto nan = hn::Or(sign, hn::Set(u32, 0x7fc0));
    const auto is_nan = hn::RebindMask(u32, hn::IsNaN(sum));
    return hn::TruncateTo(u16, hn::IfThenElse(is_nan, nan, rounded));
  });
}

template <class T>
constexpr int index_of(T dtype) {
  return static_cast<int>(dtype);
}

RowKernels make_rows() {
  RowKernels rows{};
  rows.vector_bytes = static_cast<std::int64_t>(hn::Lanes(hn::ScalableTag<std::uint8_t>()));
  rows.spread[0] = spread<std::uint8_t>;
  rows.spread[1] = spread<std::uint16_t>;
  rows.spread[2] = spread<std::uint32_t>;
  rows.spread[3] = spread<std::uint64_t>;
  rows.spread[4] = spread16;
  rows.zero = zero;
  rows.short_rows = short_rows;
  rows.stream_copy = stream_copy;
  rows.stream_zero = stream_zero;
  rows.stream_reversed[0] = stream_reversed<std::uint8_t>;
  rows.stream_reversed[1] = stream_reversed<std::uint16_t>;
  rows.stream_reversed[2] = stream_reversed<std::uint32_t>;
  rows.stream_reversed[3] = stream_reversed<std::uint64_t>;
  rows.stream_reversed[4] = stream_reversed16;
  rows.stream_spaced[0] = stream_spaced<std::uint8_t, std::uint16_t>;
  rows.stream_spaced[1] = stream_spaced<std::uint16_t, std::uint32_t>;
  rows.stream_spaced[2] = stream_spaced<std::uint32_t, std::uint64_t>;
  rows.fence = fence;
  rows.add[index_of(DType::Int8)] = rows.add[index_of(DType::UInt8)] = add_lanes<std::uint8_t>;
  rows.add[index_of(DType::Int16)] = rows.add[index_of(DType::UInt16)] = add_lanes<std::uint16_t>;
  rows.add[index_of(DType::Int32)] = rows.add[index_of(DType::UInt32)] = add_lanes<std::uint32_t>;
  rows.add[index_of(DType::Int64)] = rows.add[index_of(DType::UInt64)] = add_lanes<std::uint64_t>;
  rows.add[index_of(DType::Float32)] = add_lanes<float>;
  rows.add[index_of(DType::Float64)] = add_lanes<double>;
  rows.add[index_of(DType::Complex64)] = add_lanes<float, 2>;
  rows.add[index_of(DType::Complex128)] = add_lanes<double, 2>;
  rows.add[index_of(DType::BFloat16)] = add_bfloat16;
  return rows;
}

}  // namespace

const RowKernels* rows() {
  static const RowKernels table = make_rows();
  return &table;
}

}  // namespace backslice::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace backslice {
namespace {

struct Candidate {
  std::int64_t bit;
  std::string_view name;
  const RowKernels* (*rows)();
};

// Best first. Entries that this build leaves out are null.
constexpr Candidate kCandidates[] = {
    {HWY_AVX3_DL, "AVX3_DL", HWY_CHOOSE_AVX3_DL(rows)},
    {HWY_AVX3, "AVX3", HWY_CHOOSE_AVX3(rows)},
    {HWY_AVX2, "AVX2", HWY_CHOOSE_AVX2(rows)},
    {HWY_SSE4, "SSE4", HWY_CHOOSE_SSE4(rows)},
    {HWY_SSSE3, "SSSE3", HWY_CHOOSE_SSSE3(rows)},
    {HWY_SVE2_128, "SVE2_128", HWY_CHOOSE_SVE2_128(rows)},
    {HWY_SVE_256, "SVE_256", HWY_CHOOSE_SVE_256(rows)},
    {HWY_SVE2, "SVE2", HWY_CHOOSE_SVE2(rows)},
    {HWY_SVE, "SVE", HWY_CHOOSE_SVE(rows)},
    {HWY_NEON, "NEON", HWY_CHOOSE_NEON(rows)},
    {HWY_SCALAR, "SCALAR", HWY_CHOOSE_FALLBACK(rows)},
};

// What the whole library was compiled for needs no detection. (Highway asks for AES before it reports NEON, which
// ARM machines without it have too.)
bool runs_here(const Candidate& candidate) {
  constexpr std::int64_t kAlways = HWY_SCALAR | HWY_STATIC_TARGET;
  return ((hwy::SupportedTargets() | kAlways) & candidate.bit) != 0;
}

// SVE's vectors may be up to four cache lines long. No machine has more than one; where one does, NEON runs.
bool vectors_fill_lines(const RowKernels& rows) { return kLine % rows.vector_bytes == 0; }

std::vector<Target> find_targets() {
  std::vector<Target> found;
  for (const Candidate& candidate : kCandidates) {
    if (candidate.rows == nullptr || !runs_here(candidate)) continue;
    const RowKernels* rows = candidate.rows();
    if (vectors_fill_lines(*rows)) found.push_back({candidate.name, rows});
  }
  return found;
}

// The target that BACKSLICE_FORCE_TARGET names, or null.
const Target* forced_target() {
  const char* name = std::getenv("BACKSLICE_FORCE_TARGET");
  if (name == nullptr) return nullptr;
  const auto& targets = available_targets();
  const auto found = std::find_if(targets.begin(), targets.end(), [&](const Target& t) { return t.name == name; });
  return found == targets.end() ? nullptr : &*found;
}

const Target& choose_target() {
  const Target* forced = forced_target();
  return forced != nullptr ? *forced : available_targets().front();
}

}  // namespace

const std::vector<Target>& available_targets() {
  static const std::vector<Target> targets = find_targets();
  return targets;
}

const Target& active_target() {
  static const Target& target = choose_target();
  return target;
}

Status check_target_variable() {
  const char* name = std::getenv("BACKSLICE_FORCE_TARGET");
  if (name == nullptr || *name == '\0' || forced_target() != nullptr) return Status();
  std::string known;
  for (const Target& target : available_targets()) known += join(known.empty() ? "" : ", ", target.name);
  return invalid_argument("BACKSLICE_FORCE_TARGET is \"", name, "\", which is not a target of this machine: ", known);
}

std::vector<std::string> simd_targets() {
  std::vector<std::string> names;
  for (const Target& target : available_targets()) names.emplace_back(target.name);
  return names;
}

std::string simd_target() { return std::string(active_target().name); }

}  // namespace backslice
#endif
