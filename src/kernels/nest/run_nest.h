// Nests at work: runs moved, zeroed and added.
#pragma once

#include <cstring>
#include <optional>

#include "backslice/dtype.h"
#include "kernels/nest/nest.h"

namespace backslice {

// Moves what the loops take.
class MoveNest {
 public:
  explicit MoveNest(const Nest& nest) : nest_(nest) {}
  MoveNest(std::span<const Loop> loops, std::int64_t item_size) : MoveNest(Nest::taken(loops, item_size)) {}

  void run(std::byte* dst, const std::byte* src, const RowKernels& rows) const {
    const auto move = move_variant(rows, nest_.plane(), nest_.run()).run;
    nest_.for_each_plane(dst, src, [&](std::byte* to, const std::byte* from, const Plane& plane) {
      move(to, from, plane, nest_.run());
    });
  }

 private:
  Nest nest_;
};

// Zeroes all that the loops write.
class ZeroNest {
 public:
  explicit ZeroNest(const Nest& nest) : nest_(nest) {}
  ZeroNest(std::span<const Loop> loops, std::int64_t item_size) : ZeroNest(Nest::written(loops, item_size)) {}

  // Where it `streams`, long runs go past the caches.
  void run(std::byte* dst, const RowKernels& rows, bool streams = false) const;

 private:
  Nest nest_;
};

// Zeroes what the loops write and moves what they take: for so little of a destination that it stays in the cache,
// where both together take less time than being careful.
class FillNest {
 public:
  FillNest(std::span<const Loop> loops, std::int64_t item_size);

  // Where it streams, zeros alone go past the caches.
  void run(std::byte* dst, const std::byte* src, const RowKernels& rows, bool streams = false) const {
    if (zeros_) zeros_->run(dst, rows, streams);
    if (takes_any_) moves_.run(dst + dst_offset_, src, rows);
  }

 private:
  MoveNest moves_;
  std::optional<ZeroNest> zeros_;  // where the loops do not take all
  bool takes_any_ = true;
  std::int64_t dst_offset_ = 0;
};

// Adds what the loops take to what is there. Precondition: can_add(dtype).
class AddNest {
 public:
  AddNest(const Nest& nest, DType dtype, std::int64_t item_size, const RowKernels& rows);
  AddNest(std::span<const Loop> loops, DType dtype, std::int64_t item_size, const RowKernels& rows)
      : AddNest(Nest::taken(loops, item_size), dtype, item_size, rows) {}

  void run(std::byte* dst, const std::byte* src) const;

 private:
  void add_packed(std::byte* dst, const std::byte* src, const Plane& plane) const;
  void move(std::byte* dst, const std::byte* src, const Plane& plane) const;
  bool packs() const;

  Nest nest_;
  const RowKernels& rows_;
  std::int64_t item_size_;
  AddRow add_row_;
  AddPlane add_plane_;
};

}  // namespace backslice
