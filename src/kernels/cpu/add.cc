// Rows added to rows, by the rule on sums. Included once for each target by foreach_target.h; the part under HWY_ONCE
// is compiled once.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/cpu/add.cc"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include <cstring>
#include <initializer_list>

#include "core/tuning.h"
#include "core/visit_dtype.h"
#include "kernels/cpu/items-inl.h"
#include "kernels/cpu/targets.h"

HWY_BEFORE_NAMESPACE();
namespace backslice::HWY_NAMESPACE {
namespace {

namespace hn = hwy::HWY_NAMESPACE;

// Adds as many numbers as whole vectors hold; returns the position of the next number.
template <class D>
HWY_INLINE std::int64_t add_vectors(D d, std::byte* dst, const std::byte* src, std::int64_t i, std::int64_t count) {
  using T = hn::TFromD<D>;
  const auto lanes = static_cast<std::int64_t>(hn::Lanes(d));
  auto* to = reinterpret_cast<T*>(dst);
  const auto* from = reinterpret_cast<const T*>(src);
  for (; i + lanes <= count; i += lanes) {
    hn::StoreU(hn::Add(hn::LoadU(d, to + i), hn::LoadU(d, from + i)), d, to + i);
  }
  return i;
}

// Adds rows of T, kParts per element.
template <class T, int kParts = 1>
HWY_INLINE void add_dense(std::byte* dst, const std::byte* src, std::int64_t count) {
  constexpr auto kSize = static_cast<std::int64_t>(sizeof(T));
  const std::int64_t total = count * kParts;
  const auto add_numbers = [&](std::int64_t i, std::int64_t end) {
    for (; i < end; ++i) {
      T a, b;
      std::memcpy(&a, dst + i * kSize, sizeof(T));
      std::memcpy(&b, src + i * kSize, sizeof(T));
      a = static_cast<T>(a + b);
      std::memcpy(dst + i * kSize, &a, sizeof(T));
    }
  };
  std::int64_t i = 0;
  if (total * kSize >= kTuning.aligned_sums) {  // so that no vector crosses a cache line
    const auto ahead = static_cast<std::int64_t>(-reinterpret_cast<std::uintptr_t>(dst) % kLine);
    add_numbers(0, i = ahead / kSize);
  }
  i = add_vectors(hn::ScalableTag<T>(), dst, src, i, total);
  i = add_vectors(hn::CappedTag<T, 16 / sizeof(T)>(), dst, src, i, total);
  if constexpr (sizeof(T) < 8) i = add_vectors(hn::CappedTag<T, 8 / sizeof(T)>(), dst, src, i, total);
  add_numbers(i, total);
}

// A complex number is a vector of two numbers.
template <class T, int kParts>
struct Numbers {
  typedef T Type __attribute__((vector_size(kParts * sizeof(T))));
};
template <class T>
struct Numbers<T, 1> {
  using Type = T;
};

// Adds runs of elements of kParts numbers each. (The plane is copied: stores through bytes could change it.)
template <class T, int kParts = 1>
void add_runs(std::byte* dst, const std::byte* src, const Plane& shared, std::int64_t run) {
  const Plane plane = shared;
  for (std::int64_t row = 0; row < plane.rows; ++row) {
    std::byte* to = dst + row * plane.row_dst;
    const std::byte* from = src + row * plane.row_src;
    for (std::int64_t i = 0; i < plane.count; ++i, to += plane.dst_stride, from += plane.src_stride) {
      add_dense<T, kParts>(to, from, run);
    }
  }
}

// The same for runs of one element.
template <class T, int kParts = 1>
void add_elements(std::byte* dst, const std::byte* src, const Plane& plane, std::int64_t run) {
  if (run > 1) return add_runs<T, kParts>(dst, src, plane, run);
  using Element = typename Numbers<T, kParts>::Type;
  for_each_long_row<sizeof(Element)>(
      dst, src, plane,
      [](std::byte* to, const std::byte* from, std::int64_t count, std::int64_t to_step, std::int64_t from_step) {
        const auto add_next = [&] {
          Element a, b;
          std::memcpy(&a, to, sizeof(Element));
          std::memcpy(&b, from, sizeof(Element));
          a = static_cast<Element>(a + b);
          std::memcpy(to, &a, sizeof(Element));
          to += to_step, from += from_step;
        };
        std::int64_t i = 0;
        for (; i + kAtOnce <= count; i += kAtOnce) {
          for (int k = 0; k < kAtOnce; ++k) add_next();
        }
        for (; i < count; ++i) add_next();
      });
}

// Adds elements in a wider form: Sum adds one vector of 16-bit patterns.
template <class Sum>
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
  if (i == count) return;
  const auto rest = static_cast<std::size_t>(count - i) * sizeof(std::uint16_t);
  std::uint16_t a[kLine] = {}, b[kLine] = {};  // at least a vector
  std::memcpy(a, to + i, rest);
  std::memcpy(b, from + i, rest);
  hn::StoreU(sum(hn::LoadU(narrow, a), hn::LoadU(narrow, b)), narrow, a);
  std::memcpy(to + i, a, rest);
}

// bfloat16 is the upper half of a float32. Highway 1.0.3 would truncate on the way back; this rounds to nearest even.
void add_bfloat16(std::byte* dst, const std::byte* src, std::int64_t count) {
  const hn::ScalableTag<float> f32;
  const hn::RebindToUnsigned<decltype(f32)> u32;
  const hn::Rebind<std::uint16_t, decltype(f32)> u16;
  const auto widen = [&](auto bits) { return hn::BitCast(f32, hn::ShiftLeft<16>(hn::PromoteTo(u32, bits))); };
  add_in_float(dst, src, count, [&](auto a, auto b) {
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

// Converts float16 to float32 and back, by the bits, so that every target rounds the same way: to nearest even. A
// subnormal number becomes a normal one by adding and subtracting a power of two such as 2^-14; the hardware's addition
// does the rest.
template <class U32, class Bits>
auto widen_float16(U32 u32, Bits half) {
  const hn::RebindToFloat<U32> f32;
  const auto bits = hn::PromoteTo(u32, half);
  const auto magnitude = hn::ShiftLeft<13>(hn::And(bits, hn::Set(u32, 0x7fff)));
  const auto sign = hn::ShiftLeft<16>(hn::And(bits, hn::Set(u32, 0x8000)));
  const auto smallest_normal = hn::Set(u32, 0x0400u << 13), largest_finite = hn::Set(u32, 0x7bffu << 13);
  const auto rebased = hn::Add(magnitude, hn::Set(u32, (127u - 15) << 23));
  const auto special = hn::Add(rebased, hn::Set(u32, (128u - 16) << 23));
  const auto offset = hn::Set(u32, (127u - 14) << 23);
  const auto subnormal =
      hn::BitCast(u32, hn::Sub(hn::BitCast(f32, hn::Add(rebased, hn::Set(u32, 1u << 23))), hn::BitCast(f32, offset)));
  const auto finite = hn::IfThenElse(hn::Lt(magnitude, smallest_normal), subnormal, rebased);
  return hn::BitCast(f32, hn::Or(sign, hn::IfThenElse(hn::Gt(magnitude, largest_finite), special, finite)));
}

template <class F32, class Sum>
auto narrow_to_float16(F32 f32, Sum sum) {
  const hn::RebindToUnsigned<F32> u32;
  const auto bits = hn::BitCast(u32, sum);
  const auto magnitude = hn::And(bits, hn::Set(u32, 0x7fffffff));
  const auto sign = hn::ShiftRight<16>(hn::And(bits, hn::Set(u32, 0x80000000u)));
  const auto odd = hn::And(hn::ShiftRight<13>(magnitude), hn::Set(u32, 1));
  const auto rebased = hn::Sub(magnitude, hn::Set(u32, (127u - 15) << 23));
  const auto normal = hn::ShiftRight<13>(hn::Add(hn::Add(rebased, hn::Set(u32, 0xfff)), odd));
  const auto offset = hn::Set(u32, (127u - 15 + 23 - 10 + 1) << 23);
  const auto subnormal =
      hn::Sub(hn::BitCast(u32, hn::Add(hn::BitCast(f32, magnitude), hn::BitCast(f32, offset))), offset);
  const auto finite = hn::IfThenElse(hn::Lt(magnitude, hn::Set(u32, (127u - 14) << 23)), subnormal, normal);
  const auto overflows = hn::Gt(magnitude, hn::Set(u32, ((127u + 16) << 23) - 1));
  const auto is_nan = hn::Gt(magnitude, hn::Set(u32, 0x7f800000));
  const auto special = hn::IfThenElse(is_nan, hn::Set(u32, 0x7e00), hn::Set(u32, 0x7c00));
  return hn::Or(sign, hn::IfThenElse(overflows, special, finite));
}

void add_float16(std::byte* dst, const std::byte* src, std::int64_t count) {
  const hn::ScalableTag<float> f32;
  const hn::RebindToUnsigned<decltype(f32)> u32;
  const hn::Rebind<std::uint16_t, decltype(f32)> u16;
  add_in_float(dst, src, count, [&](auto a, auto b) {
    const auto sum = hn::Add(widen_float16(u32, a), widen_float16(u32, b));
    return hn::TruncateTo(u16, narrow_to_float16(f32, sum));
  });
}

// Elements of kParts numbers each.
template <class T, int kParts = 1>
void set_lanes(RowKernels& rows, std::initializer_list<DType> dtypes) {
  for (DType dtype : dtypes) {
    rows.add[static_cast<int>(dtype)] = add_dense<T, kParts>;
    rows.add_plane[static_cast<int>(dtype)] = add_elements<T, kParts>;
  }
}

}  // namespace

void set_add(RowKernels& rows) {
  set_lanes<std::uint8_t>(rows, {DType::Int8, DType::UInt8});
  set_lanes<std::uint16_t>(rows, {DType::Int16, DType::UInt16});
  set_lanes<std::uint32_t>(rows, {DType::Int32, DType::UInt32});
  set_lanes<std::uint64_t>(rows, {DType::Int64, DType::UInt64});
  set_lanes<float>(rows, {DType::Float32});
  set_lanes<double>(rows, {DType::Float64});
  set_lanes<float, 2>(rows, {DType::Complex64});
  set_lanes<double, 2>(rows, {DType::Complex128});
  rows.add[static_cast<int>(DType::Float16)] = add_float16;
  rows.add[static_cast<int>(DType::BFloat16)] = add_bfloat16;
}

}  // namespace backslice::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace backslice {

void set_add_rows(std::int64_t target, RowKernels& rows) {
  static constexpr PerTarget kSetters[] = BACKSLICE_PER_TARGET(set_add);
  set_for(target, kSetters, rows);
}

}  // namespace backslice
#endif
