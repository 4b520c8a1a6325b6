#include "plan/split.h"

#include "plan/cut.h"

namespace backslice {
namespace {

void split_into(const Plan& plan, std::int64_t pieces, std::vector<Plan>& parts) {
  if (pieces <= 1 || plan.is_empty()) return parts.push_back(plan);
  if (plan.is_one_item()) {
    if (!plan.moves_bytes() || plan.item_size() == 1) return parts.push_back(plan);
    return split_into(plan.byte_by_byte(), pieces, parts);
  }
  const std::int64_t extent = plan.loops()[0].extent;
  if (extent >= pieces) {
    for (std::int64_t i = 0; i < pieces; ++i) {
      parts.push_back(plan.restrict(cut_at(extent, pieces, i), cut_at(extent, pieces, i + 1)));
    }
    return;
  }
  for (std::int64_t i = 0; i < extent; ++i) {  // shares that differ by one at most, and add up
    split_into(plan.restrict(i, i + 1), cut_at(pieces, extent, i + 1) - cut_at(pieces, extent, i), parts);
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
