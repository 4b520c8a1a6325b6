#include "plan/strategy.h"

#include <algorithm>

#include "core/caches.h"
#include "plan/pages.h"

namespace backslice {

bool prefers_fresh_zeros(const Selection& selection, const Layout& out) {
  constexpr std::int64_t kWorthIt = 1 << 20;
  constexpr std::int64_t kFirstTouch = 32;  // how much slower a first touch is than zeroing warm memory
  const std::int64_t bytes = selection.shape().elements() * out.item_size;
  const std::int64_t page = page_bytes();
  return bytes >= kWorthIt && pages_touched(selection, out, page) < bytes / (kFirstTouch * page);
}

bool prefers_streaming(std::int64_t bytes) { return bytes > caches().l3; }

std::int64_t pieces_for(std::int64_t bytes, int threads) {
  const std::int64_t for_threads = threads == 1 ? 1 : 4 * threads;
  return std::min(std::max(for_threads, bytes / kLargestPieceBytes), bytes / (kParallelBytes / 4));
}

}  // namespace backslice
