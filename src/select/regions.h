// Regions: sets of elements, as selections that take them in ascending order and keep every axis.
//
// A selection says which elements, in which order, in which shape. Where only "which" matters, its region does: regions
// are equal when they hold the same elements.
#pragma once

#include <optional>

#include "backslice/selection.h"

namespace backslice {

// The same positions as the selection's.
Selection region_of(const Selection& selection);

// What is in both regions, if anything is; exact for all steps.
std::optional<Selection> intersection(const Selection& a, const Selection& b);

// The union of two regions, where that is a region too: they agree on all axes but one, and there one continues the
// other.
std::optional<Selection> joined(const Selection& a, const Selection& b);

bool contains(const Selection& outer, const Selection& inner);

// A region inside another, in the coordinates of the other's elements.
Selection relative_to(const Selection& inner, const Selection& outer);

// The slice whose result is `selection`'s, of a tensor that holds its region alone.
Selection within_region(const Selection& selection, const Selection& region);

}  // namespace backslice
