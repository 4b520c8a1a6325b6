// Ascending arithmetic progressions: what an axis takes, when the order does not matter.
#pragma once

#include <cstdint>
#include <optional>

#include "backslice/selection.h"

namespace backslice {

struct Progression {
  std::int64_t start, step, count;  // step > 0, count > 0

  std::int64_t last() const { return start + (count - 1) * step; }
};

// The positions of an axis, from the lowest. Precondition: count > 0.
Progression ascending(const Selection::Axis& axis);

// The positions in both, if there are any; exact for all steps.
std::optional<Progression> intersect(const Progression& a, const Progression& b);

}  // namespace backslice
