// The memory of results: kept after a result dies, for the next one.
//
// Fresh memory is slow: the system zeroes every page at its first touch, at a tenth of the speed of warm memory. So the
// blocks of large results are kept when their last owner goes and given to the next result of about that size. Blocks
// of 2 MiB and more are aligned to huge pages and ask for them. What is kept is bounded, by default by a quarter of the
// machine's memory. All functions are thread-safe.
#pragma once

#include <cstdint>

#include "backslice/export.h"
#include "backslice/status.h"

namespace backslice {

struct PoolStats {
  std::int64_t bytes_in_use = 0;  // in blocks that somebody owns
  std::int64_t bytes_kept = 0;    // in blocks that wait for the next owner
  std::int64_t limit = 0;         // of bytes_kept
  std::int64_t mapped = 0;        // blocks taken from the system so far
  std::int64_t reused = 0;        // times a kept block was given out again
};

BACKSLICE_EXPORT PoolStats pool_stats();

// Gives kept blocks back to the system at once where there are more. A negative limit is InvalidArgument.
BACKSLICE_EXPORT Status set_pool_limit(std::int64_t bytes);

// Gives all kept blocks back to the system.
BACKSLICE_EXPORT void trim_pool();

}  // namespace backslice
