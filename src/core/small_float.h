// SmallFloat: the floating-point types of 4 to 16 bits, described by their format and added in float32.
//
// One description serves them all: the bits of exponent and mantissa, the bias, and the meaning of the top of the
// range. Encoding rounds to nearest, ties to even. It does not saturate if the format has an infinity or a NaN, as
// ml_dtypes converts.
#pragma once

#include <bit>
#include <cstdint>
#include <limits>
#include <type_traits>

namespace backslice {

enum class Specials {
  Ieee,        // the top exponent holds infinities and NaNs
  NanAtTop,    // "fn": no infinity, NaN is all ones
  NanAtMinus,  // "fnuz": no infinity; NaN has the bits of minus zero
  None,        // neither: overflow saturates
};

struct FloatFormat {
  int exponent_bits;
  int mantissa_bits;
  int bias;
  Specials specials;

  constexpr int magnitude_bits() const { return exponent_bits + mantissa_bits; }
  constexpr std::uint32_t sign_bit() const { return 1u << magnitude_bits(); }
  constexpr std::uint32_t infinity() const { return ((1u << exponent_bits) - 1) << mantissa_bits; }
  constexpr std::uint32_t nan() const {
    switch (specials) {
      case Specials::Ieee: return infinity() | (1u << (mantissa_bits - 1));
      case Specials::NanAtTop: return sign_bit() - 1;
      case Specials::NanAtMinus: return sign_bit();
      case Specials::None: break;
    }
    return sign_bit();  // minus zero: what ml_dtypes makes of a NaN if the format has none
  }
  constexpr std::uint32_t largest_finite() const {
    switch (specials) {
      case Specials::Ieee: return infinity() - 1;
      case Specials::NanAtTop: return sign_bit() - 2;
      case Specials::NanAtMinus:
      case Specials::None: break;
    }
    return sign_bit() - 1;
  }
};

// Returns 2^exponent, exactly, even if it is subnormal in float32. Precondition: -149 <= exponent <= 127.
constexpr float power_of_two(int exponent) {
  if (exponent >= -126) return std::bit_cast<float>(static_cast<std::uint32_t>(exponent + 127) << 23);
  return std::bit_cast<float>(1u << (exponent + 149));
}

constexpr float decode(std::uint32_t bits, const FloatFormat& format) {
  const bool negative = (bits & format.sign_bit()) != 0;
  const std::uint32_t magnitude = bits & (format.sign_bit() - 1);
  const std::uint32_t mantissa = magnitude & ((1u << format.mantissa_bits) - 1);
  const int exponent = static_cast<int>(magnitude >> format.mantissa_bits);
  const float sign = negative ? -1.0f : 1.0f;

  if (format.specials == Specials::Ieee && magnitude >= format.infinity()) {
    if (mantissa == 0) return sign * std::numeric_limits<float>::infinity();
    return std::bit_cast<float>((negative ? 0xffc00000u : 0x7fc00000u));
  }
  if (format.specials == Specials::NanAtTop && magnitude == format.nan()) {
    return std::bit_cast<float>((negative ? 0xffc00000u : 0x7fc00000u));
  }
  if (format.specials == Specials::NanAtMinus && (bits & (2 * format.sign_bit() - 1)) == format.nan()) {
    return std::bit_cast<float>(0xffc00000u);
  }
  // The scale of the last mantissa bit; all values of at most 16 bits are exact in float32.
  const int scale = (exponent == 0 ? 1 : exponent) - format.bias - format.mantissa_bits;
  const std::uint32_t significand = mantissa | (exponent == 0 ? 0u : 1u << format.mantissa_bits);
  return sign * static_cast<float>(significand) * power_of_two(scale);
}

// value / 2^shift, rounded to nearest, ties to even.
constexpr std::uint32_t shift_right_to_even(std::uint32_t value, int shift) {
  if (shift <= 0) return value << -shift;
  if (shift > 31) return 0;
  const std::uint32_t floor = value >> shift;
  const std::uint32_t rest = value & ((1u << shift) - 1);
  const std::uint32_t half = 1u << (shift - 1);
  return floor + (rest > half || (rest == half && (floor & 1)) ? 1 : 0);
}

constexpr std::uint32_t encode(float value, const FloatFormat& format) {
  const auto bits = std::bit_cast<std::uint32_t>(value);
  const std::uint32_t sign = (bits >> 31) != 0 ? format.sign_bit() : 0;
  const std::uint32_t magnitude = bits & 0x7fffffffu;
  const std::uint32_t overflow = format.specials == Specials::Ieee   ? format.infinity()
                                 : format.specials == Specials::None ? format.largest_finite()
                                                                     : format.nan();
  if (magnitude > 0x7f800000u) {
    return format.specials == Specials::Ieee || format.specials == Specials::NanAtTop ? sign | format.nan()
                                                                                      : format.nan();
  }
  const bool one_nan = format.specials == Specials::NanAtMinus;
  if (magnitude == 0x7f800000u) return one_nan ? overflow : sign | overflow;

  // value = significand * 2^(exponent - 23)
  const std::uint32_t field = magnitude >> 23;
  const std::uint32_t significand = (magnitude & 0x7fffffu) | (field == 0 ? 0u : 0x800000u);
  const int exponent = (field == 0 ? 1 : static_cast<int>(field)) - 127;

  const int lowest = 1 - format.bias;  // of normal numbers; the spacing is constant below
  const int kept = exponent < lowest ? lowest : exponent;
  const std::uint32_t rounded = shift_right_to_even(significand, 23 - format.mantissa_bits + (kept - exponent));
  // A carry out of the mantissa and the implicit one both add to the exponent field, as intended.
  const std::uint32_t result =
      kept == lowest ? rounded : rounded + (static_cast<std::uint32_t>(kept - lowest) << format.mantissa_bits);
  if (result > format.largest_finite()) return one_nan ? overflow : sign | overflow;
  return result == 0 && one_nan ? 0 : sign | result;
}

template <FloatFormat kFormat>
struct SmallFloat {
  std::conditional_t<(kFormat.magnitude_bits() >= 8), std::uint16_t, std::uint8_t> bits;

  // Returns zero if the format has no minus zero.
  static constexpr std::uint32_t kNegativeZero = kFormat.specials == Specials::NanAtMinus ? 0 : kFormat.sign_bit();

  friend SmallFloat operator+(SmallFloat a, SmallFloat b) {
    return {static_cast<decltype(bits)>(encode(decode(a.bits, kFormat) + decode(b.bits, kFormat), kFormat))};
  }
};

using Float16 = SmallFloat<FloatFormat{5, 10, 15, Specials::Ieee}>;
using BFloat16 = SmallFloat<FloatFormat{8, 7, 127, Specials::Ieee}>;
using Float8E3M4 = SmallFloat<FloatFormat{3, 4, 3, Specials::Ieee}>;
using Float8E4M3 = SmallFloat<FloatFormat{4, 3, 7, Specials::Ieee}>;
using Float8E4M3B11FNUZ = SmallFloat<FloatFormat{4, 3, 11, Specials::NanAtMinus}>;
using Float8E4M3FN = SmallFloat<FloatFormat{4, 3, 7, Specials::NanAtTop}>;
using Float8E4M3FNUZ = SmallFloat<FloatFormat{4, 3, 8, Specials::NanAtMinus}>;
using Float8E5M2 = SmallFloat<FloatFormat{5, 2, 15, Specials::Ieee}>;
using Float8E5M2FNUZ = SmallFloat<FloatFormat{5, 2, 16, Specials::NanAtMinus}>;
using Float6E2M3FN = SmallFloat<FloatFormat{2, 3, 1, Specials::None}>;
using Float6E3M2FN = SmallFloat<FloatFormat{3, 2, 3, Specials::None}>;
using Float4E2M1FN = SmallFloat<FloatFormat{2, 1, 1, Specials::None}>;

// float8_e8m0fnu: a power of two without sign and zero; NaN is 255.
struct Float8E8M0FNU {
  std::uint8_t bits;

  friend Float8E8M0FNU operator+(Float8E8M0FNU a, Float8E8M0FNU b) {
    if (a.bits == 0xff || b.bits == 0xff) return {0xff};
    // 2^m + 2^n, m the larger, reaches the middle between 2^m and 2^(m+1) at n = m - 1. The significand of a power
    // of two is 1, which is odd, so that the tie goes up.
    const std::uint8_t larger = a.bits > b.bits ? a.bits : b.bits;
    const std::uint8_t smaller = a.bits > b.bits ? b.bits : a.bits;
    return {static_cast<std::uint8_t>(larger - smaller <= 1 ? larger + 1 : larger)};
  }
};

}  // namespace backslice
