#include "select/progression.h"

#include <algorithm>
#include <utility>

namespace backslice {
namespace {

__extension__ typedef __int128 Wide;  // a period may be the product of two steps

struct Common {
  Wide first, period;
};

// Finds the smallest x >= low that both infinite progressions reach, and the period at which that repeats.
std::optional<Common> common(const Progression& a, const Progression& b, std::int64_t low) {
  // Solves a.start + a.step * k = b.start (mod b.step) for k by the extended Euclidean algorithm.
  std::int64_t divisor = a.step, rest = b.step;
  Wide factor = 1, next_factor = 0;
  while (rest != 0) {
    const std::int64_t quotient = divisor / rest;
    divisor = std::exchange(rest, divisor - quotient * rest);
    factor = std::exchange(next_factor, factor - quotient * next_factor);
  }
  const Wide difference = Wide{b.start} - a.start;
  if (difference % divisor != 0) return std::nullopt;
  const Wide modulus = b.step / divisor, period = Wide{a.step} * modulus;
  const Wide k = difference / divisor % modulus * (factor % modulus) % modulus;
  Wide ahead = (a.start + a.step * k - low) % period;
  if (ahead < 0) ahead += period;
  return Common{low + ahead, period};
}

}  // namespace

Progression ascending(const Selection::Axis& axis) {
  if (axis.step > 0) return {axis.start, axis.step, axis.count};
  return {axis.start + (axis.count - 1) * axis.step, -axis.step, axis.count};
}

std::optional<Progression> intersect(const Progression& a, const Progression& b) {
  const std::int64_t low = std::max(a.start, b.start), high = std::min(a.last(), b.last());
  if (low > high) return std::nullopt;
  if (a.step == 1 && b.step == 1) return Progression{low, 1, high - low + 1};
  const auto found = common(a, b, low);
  if (!found || found->first > high) return std::nullopt;
  const auto count = static_cast<std::int64_t>((high - found->first) / found->period) + 1;
  const std::int64_t step = count == 1 ? 1 : static_cast<std::int64_t>(found->period);
  return Progression{static_cast<std::int64_t>(found->first), step, count};
}

}  // namespace backslice
