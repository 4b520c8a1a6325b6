// Cutting a plan into pieces that write disjoint memory.
#pragma once

#include <vector>

#include "plan/plan.h"

namespace backslice {

// Returns `pieces` plans of about equal size: fewer if there are fewer positions, and at least one. The destination is
// cut, so that a selection of one corner still gives every piece something to write.
std::vector<Plan> split(const Plan& plan, std::int64_t pieces);

}  // namespace backslice
