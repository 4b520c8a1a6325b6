// Nest: the loops in which runs of bytes move between two tensors of any strides.
//
// A kernel moves a plane, two axes at once; a nest is the loops around it. Axes of one position are dropped, axes that
// go on into each other on both sides merged, and what is contiguous on both sides becomes one longer run. The plane
// has the two axes that matter most:
//   - the innermost axis of the destination, and the one outside it;
//   - where the source is contiguous along another axis, that one: both are cut into blocks of a cache line, so that
//     each line of either side is used while it is in the cache;
//   - where these are only a few positions, the longest axis, in blocks that stay in the L1 cache.
//
//     [1000, 2, 2, 2] items, reversed along the axes of two:   planes of 256 x 2, in 4 x (2 x 2) steps
#pragma once

#include <algorithm>
#include <optional>
#include <span>
#include <utility>

#include "backslice/dtype.h"
#include "kernels/cpu/rows.h"
#include "plan/loop.h"

namespace backslice {

struct NestAxis {
  std::int64_t extent, dst, src;  // strides in bytes, that of the destination positive
};

class Nest {
 public:
  using Axes = InlineVector<NestAxis>;

  // Of axes with more than one position each, and runs of so many bytes.
  Nest(const Axes& axes, std::int64_t run);

  // What the loops take from the source. Preconditions: none takes nothing; the offset is not part of a nest.
  static Nest taken(std::span<const Loop> loops, std::int64_t item_size);

  // All that the loops write: the source is laid out as the destination is.
  static Nest written(std::span<const Loop> loops, std::int64_t item_size);

  std::int64_t run() const { return run_; }      // bytes that are contiguous on both sides
  std::int64_t bytes() const { return bytes_; }  // of all runs
  const Plane& plane() const { return plane_; }  // the largest one
  bool is_one_run() const { return steps_.empty() && plane_.rows * plane_.count == 1; }

  // Whether the source is contiguous along another axis than the destination.
  bool is_transposed() const { return is_transposed_; }

  // Moves the runs.
  void move(std::byte* dst, const std::byte* src, const RowKernels& rows) const;

  // Zeroes those of the destination. Where it `streams`, long runs go past the caches.
  void zero(std::byte* dst, const RowKernels& rows, bool streams = false) const;

  // Adds the runs to those of the destination. Precondition: can_add(dtype).
  void add(std::byte* dst, const std::byte* src, DType dtype, std::int64_t item_size, const RowKernels& rows) const;

  // Calls body(dst, src, plane) for all planes, whose first runs lie there.
  template <class Body>
  void for_each_plane(std::byte* dst, const std::byte* src, const Body& body) const {
    Plane plane = plane_;
    walk(0, dst, src, plane, body);
  }

 private:
  // A loop around the plane. One over blocks says how many positions of the plane's rows or runs there are.
  struct Step {
    NestAxis axis;
    std::int64_t Plane::* blocked;
    std::int64_t block, total;
  };
  static Axes merged(const Axes& axes);
  void arrange(const Axes& axes);
  int choose_rows(const Axes& axes);
  static void prefetch(const std::byte* dst, const std::byte* src, const Plane& plane);
  void add_blocks(const NestAxis& axis, std::int64_t Plane::* blocked, std::int64_t block);

  template <class Body>
  void walk(int depth, std::byte* dst, const std::byte* src, Plane& plane, const Body& body) const {
    if (depth == steps_.size()) return call(dst, src, plane, body);
    const Step& step = steps_[depth];
    const bool looks_ahead = looks_ahead_ && depth + 1 == steps_.size();
    const std::int64_t last = step.axis.extent - 1;
    for (std::int64_t done = 0; done <= last; ++done) {
      const bool is_up = -step.axis.src < step.axis.dst;
      const std::int64_t i = is_up ? done : last - done, next = is_up ? i + 1 : i - 1;
      if (step.blocked != nullptr) plane.*step.blocked = std::min(step.block, step.total - i * step.block);
      if (looks_ahead && done < last) prefetch(dst + next * step.axis.dst, src + next * step.axis.src, plane);
      walk(depth + 1, dst + i * step.axis.dst, src + i * step.axis.src, plane, body);
    }
  }

  // Memory is walked faster upwards: on the side where there is more of it.
  template <class Body>
  static void call(std::byte* dst, const std::byte* src, const Plane& plane, const Body& body) {
    if (-plane.row_src < plane.row_dst || plane.rows == 1) return body(dst, src, plane);
    Plane upwards = plane;
    upwards.row_dst = -plane.row_dst, upwards.row_src = -plane.row_src;
    body(dst + (plane.rows - 1) * plane.row_dst, src + (plane.rows - 1) * plane.row_src, upwards);
  }

  InlineVector<Step> steps_;  // outermost first
  Plane plane_;
  std::int64_t run_, bytes_;
  bool is_transposed_ = false;
  bool looks_ahead_ = false;  // the lines of the next plane are asked for
};

// Asks for the lines of a few kilobytes that are read next: in blocks that lie one before the other, the processor does
// not see it coming. Precondition: stride is not 0.
void prefetch_items(const std::byte* first, std::int64_t stride, std::int64_t count);

// Zeroes what the loops write and moves what they take: for so little of a destination that it stays in the cache,
// where both together take less time than being careful.
class FillNest {
 public:
  FillNest(std::span<const Loop> loops, std::int64_t item_size);

  // Where it streams, zeros alone go past the caches.
  void run(std::byte* dst, const std::byte* src, const RowKernels& rows, bool streams = false) const {
    if (zeros_) zeros_->zero(dst, rows, streams);
    if (takes_any_) moves_.move(dst + dst_offset_, src, rows);
  }

 private:
  Nest moves_;
  std::optional<Nest> zeros_;  // where the loops do not take all
  bool takes_any_ = true;
  std::int64_t dst_offset_ = 0;
};

}  // namespace backslice
