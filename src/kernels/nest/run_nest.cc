#include <cstring>

#include "kernels/cpu/addition.h"
#include "kernels/nest/run_nest.h"

namespace backslice {

void ZeroNest::run(std::byte* dst) const {
  static constexpr std::byte kZeros[16] = {};
  const std::int64_t run = nest_.run();
  if (nest_.is_one_run()) return write_zeros(dst, run, rows_);
  const bool are_items = width_index(run) >= 0;
  nest_.for_each_plane(dst, kZeros, [&](std::byte* to, const std::byte*, Plane plane) {
    plane.row_src = plane.src_stride = 0;
    if (are_items) return move_variant(rows_, plane, run).run(to, kZeros, plane, run);
    for (std::int64_t row = 0; row < plane.rows; ++row) {
      for (std::int64_t i = 0; i < plane.count; ++i) {
        write_zeros(to + row * plane.row_dst + i * plane.dst_stride, run, rows_);
      }
    }
  });
}

AddNest::AddNest(std::span<const Loop> loops, DType dtype, std::int64_t item_size, const RowKernels& rows)
    : nest_(Nest::taken(loops, item_size)),
      rows_(rows),
      item_size_(item_size),
      add_row_(addition_of(dtype, rows)),
      add_plane_(rows.add_plane[static_cast<int>(dtype)]) {}

void AddNest::run(std::byte* dst, const std::byte* src) const {
  const std::int64_t items = nest_.run() / item_size_;
  nest_.for_each_plane(dst, src, [&](std::byte* to, const std::byte* from, const Plane& plane) {
    if (items == 1 && add_plane_ != nullptr) return add_plane_(to, from, plane);
    if (items == 1 && plane.count > 1) return add_packed(to, from, plane);
    for (std::int64_t row = 0; row < plane.rows; ++row) {
      for (std::int64_t i = 0; i < plane.count; ++i) {
        add_row_(to + row * plane.row_dst + i * plane.dst_stride, from + row * plane.row_src + i * plane.src_stride,
                 items);
      }
    }
  });
}

// Both sides are made dense, added, and put back.
void AddNest::add_packed(std::byte* dst, const std::byte* src, const Plane& plane) const {
  constexpr std::int64_t kMostItems = 256;
  alignas(kLine) std::byte sums[16 * kMostItems], terms[16 * kMostItems];
  const std::int64_t size = item_size_;
  const auto move = [&](std::byte* to, std::int64_t to_stride, const std::byte* from, std::int64_t from_stride,
                        std::int64_t count) {
    const Plane row{1, 0, 0, count, to_stride, from_stride};
    move_variant(rows_, row, size).run(to, from, row, size);
  };
  for (std::int64_t row = 0; row < plane.rows; ++row) {
    for (std::int64_t i = 0; i < plane.count; i += kMostItems) {
      std::byte* to = dst + row * plane.row_dst + i * plane.dst_stride;
      const std::byte* from = src + row * plane.row_src + i * plane.src_stride;
      const std::int64_t count = std::min(kMostItems, plane.count - i);
      move(sums, size, to, plane.dst_stride, count);
      move(terms, size, from, plane.src_stride, count);
      add_row_(sums, terms, count);
      move(to, plane.dst_stride, sums, size, count);
    }
  }
}

}  // namespace backslice
