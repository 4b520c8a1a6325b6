#include "plan/cut.h"

#include <algorithm>

namespace backslice {

std::int64_t pieces_for(std::int64_t bytes, int threads) {
  constexpr std::int64_t kPerThread = 4, kSmallestPiece = kParallelBytes / 4;
  if (bytes < kParallelBytes) return 1;
  const std::int64_t for_threads = threads == 1 ? 1 : kPerThread * threads;
  return std::min(std::max(for_threads, bytes / kLargestPiece), bytes / kSmallestPiece);
}

}  // namespace backslice
