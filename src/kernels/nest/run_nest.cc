#include "kernels/nest/run_nest.h"

#include <algorithm>
#include <cstdlib>
#include <cstring>

#include "core/tuning.h"
#include "kernels/cpu/rows.h"

namespace backslice {
namespace {

// Asks for the lines of a few kilobytes that are read next: in blocks that lie one before the other, the processor does
// not see it coming.
void prefetch(const std::byte* first, std::int64_t stride, std::int64_t count) {
  if (std::abs(stride) > kLine) return;
  const std::int64_t items = std::max<std::int64_t>(1, kLine / std::abs(stride));
  for (std::int64_t i = 0; i < count; i += items) __builtin_prefetch(first + i * stride);
}

// A source that stays at one item.
Plane without_source(Plane plane) {
  plane.row_src = plane.src_stride = 0;
  return plane;
}

}  // namespace

void ZeroNest::run(std::byte* dst, const RowKernels& rows, bool streams) const {
  alignas(kLine) static constexpr std::byte kZeros[1024] = {};
  const std::int64_t run = nest_.run();
  if (!streams && nest_.is_one_run()) return rows.write_zeros(dst, run, run);
  if (run <= static_cast<std::int64_t>(sizeof(kZeros))) {
    const auto move = move_variant(rows, without_source(nest_.plane()), run).run;
    return nest_.for_each_plane(dst, kZeros, [&](std::byte* to, const std::byte*, const Plane& plane) {
      move(to, kZeros, without_source(plane), run);
    });
  }
  const std::int64_t bytes = nest_.bytes();
  nest_.for_each_plane(dst, kZeros, [&](std::byte* to, const std::byte*, const Plane& plane) {
    for (std::int64_t row = 0; row < plane.rows; ++row) {
      for (std::int64_t i = 0; i < plane.count; ++i) {
        std::byte* const at = to + row * plane.row_dst + i * plane.dst_stride;
        streams ? rows.stream_zeros(at, run) : rows.write_zeros(at, run, bytes);
      }
    }
  });
  if (streams) rows.fence();
}

FillNest::FillNest(std::span<const Loop> loops, std::int64_t item_size) : moves_(loops, item_size) {
  bool takes_all = true;
  for (const Loop& loop : loops) {
    takes_all &= loop.takes_all();
    takes_any_ &= loop.count > 0;
    dst_offset_ += loop.start * loop.dst_stride;
  }
  if (!takes_all) zeros_.emplace(loops, item_size);
}

AddNest::AddNest(const Nest& nest, DType dtype, std::int64_t item_size, const RowKernels& rows)
    : nest_(nest),
      rows_(rows),
      item_size_(item_size),
      add_row_(addition_of(dtype, rows)),
      add_plane_(rows.add_plane[static_cast<int>(dtype)]) {}

void AddNest::run(std::byte* dst, const std::byte* src) const {
  const std::int64_t items = nest_.run() / item_size_;
  const bool packs_planes = packs();
  nest_.for_each_plane(dst, src, [&](std::byte* to, const std::byte* from, const Plane& plane) {
    if (packs_planes) return add_packed(to, from, plane);
    if (add_plane_ != nullptr) return add_plane_(to, from, plane, items);
    for (std::int64_t row = 0; row < plane.rows; ++row) {
      for (std::int64_t i = 0; i < plane.count; ++i) {
        add_row_(to + row * plane.row_dst + i * plane.dst_stride, from + row * plane.row_src + i * plane.src_stride,
                 items);
      }
    }
  });
}

// Whether terms are made dense first: where only rows are added; or where vectors do that, and sums are dense or else
// far from lines of terms.
bool AddNest::packs() const {
  const Plane& plane = nest_.plane();
  if (plane.count == 1) return false;
  if (add_plane_ == nullptr) return nest_.run() <= kTuning.packed_run;
  if (nest_.run() != item_size_) return false;
  const bool by_vectors = !move_variant(rows_, plane, item_size_).is_general;
  if (nest_.is_transposed()) return by_vectors && item_size_ < 8 && plane.count * plane.rows >= 8;
  return by_vectors && item_size_ <= 8 && plane.dst_stride == item_size_ && plane.count >= 8;
}

void AddNest::move(std::byte* dst, const std::byte* src, const Plane& plane) const {
  move_variant(rows_, plane, nest_.run()).run(dst, src, plane, nest_.run());
}

// A few kilobytes at a time. Sums that are not dense are made so too, and put back.
void AddNest::add_packed(std::byte* dst, const std::byte* src, const Plane& plane) const {
  constexpr std::int64_t kBytes = 4096;
  alignas(kLine) std::byte sums[kBytes], terms[kBytes];
  const std::int64_t size = nest_.run(), items_of_run = size / item_size_;
  const std::int64_t most = std::min(kTuning.packed_items, kBytes / size);
  // Rows of a source that is dense across them are moved several at once.
  const std::int64_t together = nest_.is_transposed() ? std::min(plane.rows, most / 16) : 1;
  const std::int64_t most_count = std::min(plane.count, most / together);
  const std::int64_t most_rows = most / most_count;
  const std::int64_t dst_stride = plane.dst_stride, src_stride = plane.src_stride;
  for (std::int64_t row = 0; row < plane.rows; row += most_rows) {
    for (std::int64_t i = 0; i < plane.count; i += most_count) {
      const std::int64_t rows = std::min(most_rows, plane.rows - row), count = std::min(most_count, plane.count - i);
      const std::int64_t dense = count * size;
      std::byte* to = dst + row * plane.row_dst + i * dst_stride;
      const std::int64_t next = std::min(most_count, plane.count - i - count);
      if (src_stride < 0 && next > 0) prefetch(src + row * plane.row_src + (i + count) * src_stride, src_stride, next);
      move(terms, src + row * plane.row_src + i * src_stride, {rows, dense, plane.row_src, count, size, src_stride});
      const bool are_apart = dst_stride != size || (count < kTuning.few_packed && plane.row_dst != dense);
      if (add_plane_ != nullptr && are_apart) {
        add_plane_(to, terms, {rows, plane.row_dst, dense, count, dst_stride, size}, 1);
      } else if (dst_stride == size && (plane.row_dst == dense || rows == 1)) {
        add_row_(to, terms, rows * count * items_of_run);
      } else if (dst_stride == size) {
        for (std::int64_t r = 0; r < rows; ++r) {
          add_row_(to + r * plane.row_dst, terms + r * dense, count * items_of_run);
        }
      } else {
        move(sums, to, {rows, dense, plane.row_dst, count, size, dst_stride});
        add_row_(sums, terms, rows * count * items_of_run);
        move(to, sums, {rows, plane.row_dst, dense, count, dst_stride, size});
      }
    }
  }
}

}  // namespace backslice
