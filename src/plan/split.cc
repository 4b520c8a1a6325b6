#include "plan/split.h"

#include <algorithm>
#include <cstdlib>

#include "plan/cut.h"

namespace backslice {
namespace {

// Returns the outermost loop, unless its positions share cache lines of the source, which the pieces would then share.
int loop_to_cut(std::span<const Loop> loops, std::int64_t pieces) {
  constexpr std::int64_t kLinePositions = 64;  // at least the positions of a cache line
  const auto cuts_lines = [&](const Loop& loop) {
    return loop.count > 1 && std::abs(loop.src_stride) < kLinePositions && loop.extent < kLinePositions * pieces;
  };
  if (!cuts_lines(loops[0])) return 0;
  const auto found = std::find_if(loops.begin(), loops.end(),
                                  [&](const Loop& loop) { return loop.extent >= pieces && !cuts_lines(loop); });
  return found == loops.end() ? 0 : static_cast<int>(found - loops.begin());
}

void split_into(const Plan& plan, std::int64_t pieces, std::vector<Plan>& parts) {
  if (pieces <= 1 || plan.is_empty()) return parts.push_back(plan);
  if (plan.is_one_item()) {
    if (!plan.moves_bytes() || plan.item_size() == 1) return parts.push_back(plan);
    return split_into(plan.byte_by_byte(), pieces, parts);
  }
  const int loop = loop_to_cut(plan.loops(), pieces);
  const std::int64_t extent = plan.loops()[static_cast<std::size_t>(loop)].extent;
  if (extent >= pieces) {
    for (std::int64_t i = 0; i < pieces; ++i) {
      parts.push_back(plan.restrict(loop, cut_at(extent, pieces, i), cut_at(extent, pieces, i + 1)));
    }
    return;
  }
  for (std::int64_t i = 0; i < extent; ++i) {  // numbers of pieces that differ by at most one, and add up
    split_into(plan.restrict(loop, i, i + 1), cut_at(pieces, extent, i + 1) - cut_at(pieces, extent, i), parts);
  }
}

}  // namespace

std::vector<Plan> split(const Plan& plan, std::int64_t pieces) {
  std::vector<Plan> parts;
  parts.reserve(static_cast<std::size_t>(pieces));
  split_into(plan, pieces, parts);
  return parts;
}

}  // namespace backslice
