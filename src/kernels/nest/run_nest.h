// Nests at work: runs moved, zeroed and added.
#pragma once

#include <cstring>

#include "backslice/dtype.h"
#include "kernels/nest/nest.h"

namespace backslice {

// Moves what the loops take.
class MoveNest {
 public:
  MoveNest(std::span<const Loop> loops, std::int64_t item_size, const RowKernels& rows)
      : nest_(Nest::taken(loops, item_size)), move_(move_variant(rows, nest_.plane(), nest_.run()).run) {}

  const Nest& nest() const { return nest_; }
  void run(std::byte* dst, const std::byte* src) const {
    nest_.for_each_plane(dst, src, [&](std::byte* to, const std::byte* from, const Plane& plane) {
      move_(to, from, plane, nest_.run());
    });
  }

 private:
  Nest nest_;
  void (*move_)(std::byte*, const std::byte*, const Plane&, std::int64_t);
};

// Zeroes all that the loops write.
class ZeroNest {
 public:
  ZeroNest(std::span<const Loop> loops, std::int64_t item_size, const RowKernels& rows)
      : nest_(Nest::written(loops, item_size)), rows_(rows) {}

  void run(std::byte* dst) const;

 private:
  Nest nest_;
  const RowKernels& rows_;
};

// Adds what the loops take to what is there. Precondition: can_add(dtype).
class AddNest {
 public:
  AddNest(std::span<const Loop> loops, DType dtype, std::int64_t item_size, const RowKernels& rows);

  void run(std::byte* dst, const std::byte* src) const;

 private:
  void add_packed(std::byte* dst, const std::byte* src, const Plane& plane) const;

  Nest nest_;
  const RowKernels& rows_;
  std::int64_t item_size_;
  AddRow add_row_;
  AddPlane add_plane_;
};

// Zeros of some kilobytes are faster by vectors, more by memset.
inline void write_zeros(std::byte* dst, std::int64_t bytes, const RowKernels& rows) {
  constexpr std::int64_t kByVectors = 32 << 10;
  bytes <= kByVectors ? rows.zero(dst, bytes) : static_cast<void>(std::memset(dst, 0, static_cast<std::size_t>(bytes)));
}

}  // namespace backslice
