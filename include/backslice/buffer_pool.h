/// @file
/// The memory of results: kept after a result dies, for the next one.
///
/// Fresh memory is slow: the system zeroes every page when it is first touched, at a tenth of the speed of warm memory.
/// So the blocks of large results are kept when their last owner goes and given to the next result of about that size.
/// Blocks of 2 MiB and more are aligned to huge pages and ask for them. What is kept is bounded, by default by a
/// quarter of the machine's memory. All functions are thread-safe.
#pragma once

#include <cstdint>

#include "backslice/export.h"
#include "backslice/status.h"

namespace backslice {

/// The contents and the history of the pool.
struct PoolStats {
  std::int64_t bytes_in_use = 0;  ///< In blocks that still have an owner.
  std::int64_t bytes_kept = 0;    ///< In blocks that wait for the next owner.
  std::int64_t limit = 0;         ///< Of bytes_kept.
  std::int64_t mapped = 0;        ///< Blocks taken from the system so far.
  std::int64_t reused = 0;        ///< Times a kept block was given out again.
};

BACKSLICE_EXPORT PoolStats pool_stats();

/// The most bytes that are kept; blocks beyond that go back to the system at once. A negative limit is InvalidArgument.
BACKSLICE_EXPORT Status set_pool_limit(std::int64_t bytes);

/// Gives all kept blocks back to the system.
BACKSLICE_EXPORT void trim_pool();

}  // namespace backslice
