// Cutting a plan into parts that write disjoint memory.
#pragma once

#include <vector>

#include "plan/plan.h"

namespace backslice {

// `pieces` parts of about equal size: as many as were asked for, but where there are fewer positions to give, and at
// least one. The cut is through the destination, so that a selection of one corner still gives every part something to
// write.
std::vector<Plan> split(const Plan& plan, std::int64_t pieces);

}  // namespace backslice
