// The box of a tensor that is one of its shards: shards have one size, and divide the axes evenly.
#pragma once

#include <vector>

#include "backslice/selection.h"

namespace backslice::jax {

/// Returns the box of a shard. `shard` has the number of the shard along each axis; `local` is the shape of every
/// shard. InvalidArgument if the box lies outside `whole`.
Result<std::vector<Range>> box_of(const Shape& whole, const Shape& local, std::span<const std::int32_t> shard);

}  // namespace backslice::jax
