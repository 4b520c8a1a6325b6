// Many slices of one destination, brought to common axes.
//
// Each slice becomes one AxisPart per axis: which positions of the destination it takes, and how far apart they lie in
// its source. Axes are turned forward and ordered by the destination's strides, as in a Plan, of whose loops they are
// the parts that differ from slice to slice; neighbours that are one run for every slice are merged.
#pragma once

#include <vector>

#include "backslice/slice_gradient.h"
#include "execute/task_runner.h"
#include "plan/loop.h"
#include "select/progression.h"

namespace backslice {

struct AxisPart {
  std::int64_t start, step, count;  // step > 0, count > 0
  std::int64_t src_stride;

  Progression positions() const { return {start, step, count}; }
  std::int64_t last() const { return positions().last(); }
};

struct CommonAxes {
  struct Axis {
    std::int64_t extent, dst_stride;
  };
  std::vector<Axis> axes;                 // outermost first
  std::int64_t dst_offset = 0;            // of the first position, in bytes
  std::vector<AxisPart> parts;            // slice by slice, axis by axis; empty slices are left out
  std::vector<const std::byte*> sources;  // of each slice: where its first position lies

  int rank() const { return static_cast<int>(axes.size()); }
  Axis& axis(int k) { return axes[static_cast<std::size_t>(k)]; }
  const Axis& axis(int k) const { return axes[static_cast<std::size_t>(k)]; }
  std::int64_t slices() const { return static_cast<std::int64_t>(sources.size()); }
  const AxisPart* slice(std::int64_t i) const { return parts.data() + i * rank(); }

  // What a plan for that slice alone would have.
  Loop loop(std::int64_t s, int k) const {
    const AxisPart& part = slice(s)[k];
    return {axis(k).extent, part.start, part.step, part.count, axis(k).dst_stride, part.src_stride};
  }
};

// There may be millions of slices: the functions that go through all of them ask the runner whether to go on.

// Of a destination without elements: no axes, no slices.
CommonAxes common_axes(std::span<const SliceGradient> slices, const Layout& dst, const TaskRunner& runner);

// Whether no position is taken by two slices. Exact.
bool are_disjoint(const CommonAxes& common, const TaskRunner& runner);

// Whether two slices share a position; exact.
bool intersect(const AxisPart* a, const AxisPart* b, int rank);

}  // namespace backslice
