// Regions: sets of elements, as selections in ascending order that keep every axis.
//
// A selection says which elements, in which order and in which shape. Its region says only which elements: regions are
// equal if they hold the same elements.
#pragma once

#include <optional>

#include "backslice/selection.h"

namespace backslice {

// Returns the region of a selection.
Selection region_of(const Selection& selection);

// Returns the elements in both regions, or nullopt if there are none; exact for all steps.
std::optional<Selection> intersection(const Selection& a, const Selection& b);

// Returns the union of two regions if it is a region: they agree on all axes but one, and continue each other there.
std::optional<Selection> joined(const Selection& a, const Selection& b);

bool contains(const Selection& outer, const Selection& inner);

// Returns an inner region in the coordinates of the outer one.
Selection relative_to(const Selection& inner, const Selection& outer);

// Returns the slice that has the result of `selection`, for a tensor that holds only `region`.
Selection within_region(const Selection& selection, const Selection& region);

}  // namespace backslice
