// The box of a tensor that one shard of it is: shards are of one size, and cut the axes that they cut evenly.
#pragma once

#include <vector>

#include "backslice/selection.h"

namespace backslice::jax {

/// `shard` has for each axis the number of the shard along it; `local` is the shape of every shard. InvalidArgument
/// where that lies outside `whole`.
Result<std::vector<Range>> box_of(const Shape& whole, const Shape& local, std::span<const std::int32_t> shard);

}  // namespace backslice::jax
