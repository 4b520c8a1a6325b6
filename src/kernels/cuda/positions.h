// Positions: the coordinates of an item on some axes, and the elements that a slice selects there.
#pragma once

#include "kernels/cuda/portable.h"

namespace backslice::cuda {

// Division by a number that is known before a kernel runs: a multiplication and a shift. For dividends below 2^31.
struct FastDivisor {
  std::uint32_t divisor = 1, multiplier = 0, shift = 0;

  FastDivisor() = default;

  // Precondition: 1 <= d < 2^31. With 2^(l-1) < d <= 2^l, the multiplier is 2^(31+l) / d, rounded up. It fits 32 bits.
  // Rounding adds less than n * 2^l to n * multiplier, too little to change the quotient.
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

// Divides any numbers; slow for more than 32 bits.
struct WideDivisor {
  std::int64_t divisor = 1;

  BACKSLICE_HD std::int64_t quotient(std::int64_t n) const {
    if (divisor == 1) return n;
    if ((n | divisor) >> 32 == 0) return static_cast<std::uint32_t>(n) / static_cast<std::uint32_t>(divisor);
    return n / divisor;
  }
};

// Calls body(k, position) for the positions of an item on `axes` axes, from the innermost to the outermost, until one
// returns false; extent(k) has the divisor. Returns whether none did.
template <class Number, class Extent, class Body>
BACKSLICE_HD bool for_each_position(int axes, Number item, const Extent& extent, const Body& body) {
  BACKSLICE_UNROLL
  for (int k = axes - 1; k >= 0; --k) {
    const auto& positions = extent(k);
    const Number outer = k == 0 ? 0 : positions.quotient(item);
    if (!body(k, item - outer * positions.divisor)) return false;
    item = outer;
  }
  return true;
}

// Returns the index of a position among the selected positions of a loop, or a number that is not less than its count.
// A loop has a start, a count, and a step with its divisor.
template <class Loop>
BACKSLICE_HD std::uint32_t taken_index(const Loop& loop, std::uint32_t position) {
  const std::uint32_t from_start = position - loop.start;  // wraps below the start, to 2^31 or more
  if (loop.step.divisor == 1) return from_start;
  if (position < loop.start) return loop.count;
  const std::uint32_t index = loop.step.quotient(from_start);
  return index * loop.step.divisor == from_start ? index : loop.count;
}

}  // namespace backslice::cuda
