#include "plan/cut.h"

#include <algorithm>
#include <limits>

namespace backslice {

std::int64_t work_of(std::int64_t bytes, std::int64_t per_byte) {
  return std::min(bytes, std::numeric_limits<std::int64_t>::max() / per_byte) * per_byte;
}

std::int64_t pieces_for(std::int64_t work, int threads, std::int64_t least) {
  constexpr std::int64_t kPerThread = 4, kSmallestPiece = kLeastParallelBytes / 2;
  if (work < std::max(least, kLeastParallelBytes)) return 1;
  const std::int64_t for_threads = threads == 1 ? 1 : kPerThread * threads;
  return std::min(std::max(for_threads, work / kLargestPiece), work / kSmallestPiece);
}

}  // namespace backslice
