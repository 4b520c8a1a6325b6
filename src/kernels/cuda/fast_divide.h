// Division by a number that is known before a kernel runs: a multiplication and a shift. And what all kernels compute
// by it: where an item lies on each axis.
#pragma once

#include "kernels/cuda/portable.h"

namespace backslice::cuda {

// For dividends below 2^31.
struct FastDivisor {
  std::uint32_t divisor = 1, multiplier = 0, shift = 0;

  FastDivisor() = default;

  // Precondition: 1 <= d < 2^31. With 2^(l-1) < d <= 2^l the multiplier is 2^(31+l) / d, rounded up: it fits 32 bits,
  // and what rounding adds to n * multiplier is less than n * 2^l, and so too little to change the quotient.
  explicit FastDivisor(std::int64_t d) : divisor(static_cast<std::uint32_t>(d)) {
    if (divisor == 1) return;
    unsigned l = 1;
    while ((std::uint64_t{1} << l) < divisor) ++l;
    multiplier = static_cast<std::uint32_t>(((std::uint64_t{1} << (31 + l)) + divisor - 1) / divisor);
    shift = l - 1;
  }

  BACKSLICE_HD std::uint32_t quotient(std::uint32_t n) const {
    if (divisor == 1) return n;
#ifdef __CUDA_ARCH__
    return __umulhi(n, multiplier) >> shift;
#else
    return static_cast<std::uint32_t>((std::uint64_t{n} * multiplier) >> 32) >> shift;
#endif
  }
};

// The positions of an item on `axes` axes, of which extent(k) has the divisor, from the innermost to the outermost:
// calls body(k, position) until one returns false, and returns whether none did.
template <class Extent, class Body>
BACKSLICE_HD bool for_each_position(int axes, std::uint32_t item, const Extent& extent, const Body& body) {
  BACKSLICE_UNROLL
  for (int k = axes - 1; k >= 0; --k) {
    const FastDivisor& positions = extent(k);
    const std::uint32_t outer = k == 0 ? 0 : positions.quotient(item);
    if (!body(k, item - outer * positions.divisor)) return false;
    item = outer;
  }
  return true;
}

}  // namespace backslice::cuda
