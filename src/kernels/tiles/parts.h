// Many slices of one destination, brought to common axes.
//
// Each slice becomes one AxisPart per axis: which positions of the destination it takes, and how far apart they lie in
// its source. Axes are turned forward and ordered by the destination's strides, as in a Plan, of whose loops they are
// the parts that differ from slice to slice; neighbours that are one run for every slice are merged.
#pragma once

#include "backslice/slice_gradient.h"
#include "execute/task_runner.h"
#include "kernels/nest/units.h"

namespace backslice {

// What becomes of an element that two slices have.
enum class Overlap { None, Added, LastWins };

// There may be millions of slices: the functions that go through all of them ask the runner whether to go on.

// Of a destination without elements: no axes, no slices.
CommonAxes common_axes(std::span<const SliceGradient> slices, const Layout& dst, const TaskRunner& runner);

// Whether no position is taken by two slices. Exact.
bool are_disjoint(const CommonAxes& common, const TaskRunner& runner);

// Whether two slices share a position; exact.
bool intersect(const AxisPart* a, const AxisPart* b, int rank);

}  // namespace backslice
