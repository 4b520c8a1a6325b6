// Ascending arithmetic progressions: the positions of an axis, if their order does not matter.
#pragma once

#include <cstdint>
#include <optional>

#include "backslice/selection.h"

namespace backslice {

struct Progression {
  std::int64_t start, step, count;  // step > 0, count > 0

  std::int64_t last() const { return start + (count - 1) * step; }
};

// Returns the positions of an axis in ascending order. Precondition: count > 0.
Progression ascending(const Selection::Axis& axis);

// Returns the positions in both, or nullopt; exact for all steps.
std::optional<Progression> intersect(const Progression& a, const Progression& b);

}  // namespace backslice
