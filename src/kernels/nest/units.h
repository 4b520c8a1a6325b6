// Slices of one destination on common axes, and the units in which threads of a GPU move them.
//
// A plan has one slice or none, many slices have as many. A unit has 1, 2, 4, 8 or 16 bytes: the widest by which every
// address and every step is aligned. Items that are only moved may be cut into units, and items that lie side by side
// on both sides make one of several.
//
//     [8, 12] bytes, of which [2:, 4:8] is taken:   [8, 3] units of 4 bytes, of which [2:, 1:2]
#pragma once

#include <vector>

#include "plan/plan.h"
#include "select/progression.h"

namespace backslice {

// What a slice takes of an axis.
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
  std::int64_t positions() const;

  // What a plan for that slice alone would have.
  Loop loop(std::int64_t s, int k) const {
    const AxisPart& part = slice(s)[k];
    return {axis(k).extent, part.start, part.step, part.count, axis(k).dst_stride, part.src_stride};
  }
};

// Of one plan, whose offsets both sides have already.
CommonAxes axes_of(const Plan& plan, const std::byte* src);

// The widest unit that divides all these numbers, as bits.
std::int64_t unit_width(std::uint64_t bits);

// Counts the innermost axis in units, and returns their width. Items are cut where they are `divisible`.
std::int64_t count_in_units(CommonAxes& common, std::int64_t item_size, bool divisible, const std::byte* dst);

// Whether units of that width leave no gap in the destination.
bool is_dense(const CommonAxes& common, std::int64_t width);

}  // namespace backslice
