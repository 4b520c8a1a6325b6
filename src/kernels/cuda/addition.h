// Sums of elements with the CPU's results, bit for bit, for kernels and for tests on the CPU.
//
// A thread adds up to sixteen bytes at once; the kind says what they are. Complex numbers are two floats.
#pragma once

#include "backslice/dtype.h"
#include "core/small_float.h"
#include "kernels/cuda/portable.h"

namespace backslice::cuda {

struct Addition {
  enum class Kind : std::int32_t { Wrapping, SmallFloat, PowerOfTwo, Float16, BFloat16, Float32, Float64 };

  Kind kind = Kind::Wrapping;
  std::int32_t width = 1;      // of a number, in bytes
  std::uint64_t mask = ~0ull;  // for Wrapping: the significant bits of each number in a word
  FloatFormat format{};        // SmallFloat
};

// Precondition: can_add(dtype).
Addition addition_of(DType dtype);

// a + b if an operand or the sum is NaN: the first NaN operand, made quiet, or the CPU's default NaN.
BACKSLICE_HD std::uint32_t nan_sum(std::uint32_t a, std::uint32_t b) {
  constexpr std::uint32_t kQuiet = 0x00400000u, kInfinity = 0x7f800000u;
  if ((a & 0x7fffffffu) > kInfinity) return a | kQuiet;
  if ((b & 0x7fffffffu) > kInfinity) return b | kQuiet;
  return 0xffc00000u;
}

BACKSLICE_HD std::uint64_t nan_sum(std::uint64_t a, std::uint64_t b) {
  constexpr std::uint64_t kQuiet = 0x0008000000000000u, kInfinity = 0x7ff0000000000000u, kSign = 1ull << 63;
  if ((a & ~kSign) > kInfinity) return a | kQuiet;
  if ((b & ~kSign) > kInfinity) return b | kQuiet;
  return 0xfff8000000000000u;
}

template <class Float, class Bits>
BACKSLICE_HD Bits float_sum(Bits a, Bits b) {
  Float x, y;
  std::memcpy(&x, &a, sizeof(x));
  std::memcpy(&y, &b, sizeof(y));
  const Float sum = x + y;
  if (sum != sum) return nan_sum(a, b);
  Bits bits;
  std::memcpy(&bits, &sum, sizeof(bits));
  return bits;
}

BACKSLICE_HD float float_of(std::uint32_t bits) {
  float value;
  std::memcpy(&value, &bits, sizeof(value));
  return value;
}

BACKSLICE_HD std::uint32_t bits_of(float value) {
  std::uint32_t bits;
  std::memcpy(&bits, &value, sizeof(bits));
  return bits;
}

// In float32, rounded to the format.
BACKSLICE_HD std::uint32_t small_sum(std::uint32_t a, std::uint32_t b, const FloatFormat& format) {
  const std::uint32_t sum = float_sum<float>(bits_of(decode(a, format)), bits_of(decode(b, format)));
  return encode(float_of(sum), format);
}

// The same if both are finite, without unpacking: bfloat16 is the upper half of a float32.
BACKSLICE_HD std::uint32_t bfloat16_sum(std::uint32_t a, std::uint32_t b) {
  const float sum = float_of(a << 16) + float_of(b << 16);
  if (sum != sum) return small_sum(a, b, FloatFormat{8, 7, 127, Specials::Ieee});
  const std::uint32_t bits = bits_of(sum);
  return (bits + 0x7fffu + ((bits >> 16) & 1)) >> 16;
}

// 2^m + 2^n, rounded to a power of two; see Float8E8M0FNU.
BACKSLICE_HD std::uint32_t power_sum(std::uint32_t a, std::uint32_t b) {
  if (a == 0xff || b == 0xff) return 0xff;
  const std::uint32_t larger = a > b ? a : b, smaller = a > b ? b : a;
  return larger - smaller <= 1 ? larger + 1 : larger;
}

#ifdef __CUDA_ARCH__
// By instructions of the device, which round as `encode` does.
BACKSLICE_HD std::uint32_t float16_sum(std::uint32_t a, std::uint32_t b) {
  float x, y;
  unsigned short sum;
  asm("cvt.f32.f16 %0, %1;" : "=f"(x) : "h"(static_cast<unsigned short>(a)));
  asm("cvt.f32.f16 %0, %1;" : "=f"(y) : "h"(static_cast<unsigned short>(b)));
  const float wide = x + y;
  if (wide != wide) return small_sum(a, b, FloatFormat{5, 10, 15, Specials::Ieee});
  asm("cvt.rn.f16.f32 %0, %1;" : "=h"(sum) : "f"(wide));
  return sum;
}
#else
BACKSLICE_HD std::uint32_t float16_sum(std::uint32_t a, std::uint32_t b) {
  return small_sum(a, b, FloatFormat{5, 10, 15, Specials::Ieee});
}
#endif

// Adds one number of eight bits.
BACKSLICE_HD std::uint32_t narrow_sum(const Addition& addition, std::uint32_t a, std::uint32_t b) {
  return addition.kind == Addition::Kind::SmallFloat ? small_sum(a, b, addition.format) : power_sum(a, b);
}

// Adds numbers of `width` bytes within a word of eight, without carries between them.
BACKSLICE_HD std::uint64_t wrapping_sums(std::uint64_t a, std::uint64_t b, std::int32_t width) {
  if (width == 8) return a + b;
  const std::uint64_t top = width == 4 ? 0x8000000080000000u : width == 2 ? 0x8000800080008000u : 0x8080808080808080u;
  return ((a & ~top) + (b & ~top)) ^ ((a ^ b) & top);
}

// Adds all numbers of a word of `bytes` bytes.
template <int kBytes>
BACKSLICE_HD std::uint64_t word_sums(const Addition& addition, std::uint64_t a, std::uint64_t b) {
  using Kind = Addition::Kind;
  if (addition.kind == Kind::Wrapping) return wrapping_sums(a, b, addition.width) & addition.mask;
  if constexpr (kBytes == 8) {
    if (addition.kind == Kind::Float64) return float_sum<double>(a, b);
  }
  std::uint64_t sums = 0;
  if constexpr (kBytes >= 4) {
    if (addition.kind == Kind::Float32) {
      BACKSLICE_UNROLL
      for (int bits = 0; bits < 8 * kBytes; bits += 32) {
        const auto sum = float_sum<float>(static_cast<std::uint32_t>(a >> bits), static_cast<std::uint32_t>(b >> bits));
        sums |= static_cast<std::uint64_t>(sum) << bits;
      }
      return sums;
    }
  }
  if constexpr (kBytes >= 2) {
    if (addition.kind == Kind::BFloat16 || addition.kind == Kind::Float16) {
      BACKSLICE_UNROLL
      for (int at = 0; at < 8 * kBytes; at += 16) {
        const auto x = static_cast<std::uint32_t>(a >> at) & 0xffffu, y = static_cast<std::uint32_t>(b >> at) & 0xffffu;
        const std::uint32_t sum = addition.kind == Kind::BFloat16 ? bfloat16_sum(x, y) : float16_sum(x, y);
        sums |= static_cast<std::uint64_t>(sum) << at;
      }
      return sums;
    }
  }
  const int bits = 8 * addition.width;
  const std::uint32_t one = addition.width == 1 ? 0xffu : 0xffffu;
  for (int at = 0; at < 8 * kBytes; at += bits) {
    const std::uint32_t sum =
        narrow_sum(addition, static_cast<std::uint32_t>(a >> at) & one, static_cast<std::uint32_t>(b >> at) & one);
    sums |= static_cast<std::uint64_t>(sum & one) << at;
  }
  return sums;
}

// sum + term, kBytes of numbers. Precondition: addition.width <= kBytes.
template <int kBytes>
BACKSLICE_HD Item<kBytes> sums_of(const Addition& addition, Item<kBytes> sum, Item<kBytes> term) {
  if constexpr (kBytes == 16) {
    return {word_sums<8>(addition, sum.low, term.low), word_sums<8>(addition, sum.high, term.high)};
  } else {
    return static_cast<Item<kBytes>>(word_sums<kBytes>(addition, sum, term));
  }
}

}  // namespace backslice::cuda
