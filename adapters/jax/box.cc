#include "box.h"

#include "core/errors.h"

namespace backslice::jax {

Result<std::vector<Range>> box_of(const Shape& whole, const Shape& local, std::span<const std::int32_t> shard) {
  if (whole.rank() != local.rank() || std::ssize(shard) != whole.rank())
    return invalid_argument("a shard of shape ", Ints(local), " is none of a tensor of shape ", Ints(whole));
  std::vector<Range> box;
  for (int axis = 0; axis < whole.rank(); ++axis) {
    const std::int64_t extent = local[axis], number = shard[static_cast<std::size_t>(axis)];
    if (number < 0 || extent < 0 || (extent > 0 && number > whole[axis] / extent - 1))
      return invalid_argument("shard ", number, " of extent ", extent, " lies outside axis ", axis, " of ",
                              whole[axis]);
    box.push_back({.lo = number * extent, .hi = (number + 1) * extent});
  }
  return box;
}

}  // namespace backslice::jax
