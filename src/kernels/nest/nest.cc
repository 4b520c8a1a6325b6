#include "kernels/nest/nest.h"

#include <algorithm>
#include <cstdlib>
#include <type_traits>

#include "core/tuning.h"

namespace backslice {
namespace {

bool goes_on(const NestAxis& outer, const NestAxis& inner) {
  return outer.dst == inner.extent * inner.dst && outer.src == inner.extent * inner.src;
}

// How many positions of an axis share a cache line of the source.
std::int64_t in_a_line(const NestAxis& axis) {
  return std::min(axis.extent, kLine / std::max<std::int64_t>(std::abs(axis.src), 1));
}

// The axis of which most positions share a line of the source; of several, the innermost.
int closest_in_source(const InlineVector<NestAxis>& axes) {
  int best = axes.size() - 1;
  for (int i = best; i >= 0; --i) {
    if (in_a_line(axes[i]) > in_a_line(axes[best])) best = i;
  }
  return best;
}

}  // namespace

Nest Nest::taken(std::span<const Loop> loops, std::int64_t item_size) {
  Axes axes;
  for (const Loop& loop : loops) {
    if (loop.count > 1) axes.push_back({loop.count, loop.step * loop.dst_stride, loop.src_stride});
  }
  return Nest(axes, item_size);
}

Nest Nest::written(std::span<const Loop> loops, std::int64_t item_size) {
  Axes axes;
  for (const Loop& loop : loops) {
    if (loop.extent > 1) axes.push_back({loop.extent, loop.dst_stride, loop.dst_stride});
  }
  return Nest(axes, item_size);
}

Nest::Nest(const Axes& all, std::int64_t run) : run_(run) {
  Axes axes = merged(all);
  const int last = axes.size() - 1;
  if (last >= 0 && axes[last].dst == run && axes[last].src == run) {
    run_ *= axes[last].extent;
    axes.resize_down(last);
  }
  bytes_ = run_;
  for (const NestAxis& axis : axes) bytes_ *= axis.extent;
  arrange(axes);
}

Nest::Axes Nest::merged(const Axes& all) {
  Axes axes = all;
  const auto outer_first = [](const NestAxis& a, const NestAxis& b) { return a.dst > b.dst; };
  if (!std::is_sorted(axes.begin(), axes.end(), outer_first)) std::stable_sort(axes.begin(), axes.end(), outer_first);
  int kept = 0;
  for (const NestAxis& inner : axes) {
    if (kept > 0 && goes_on(axes[kept - 1], inner)) {
      axes[kept - 1] = {axes[kept - 1].extent * inner.extent, inner.dst, inner.src};
    } else {
      axes[kept++] = inner;
    }
  }
  axes.resize_down(kept);
  return axes;
}

// Which axis is walked together with the innermost.
int Nest::choose_rows(const Axes& axes) {
  const int inner = axes.size() - 1, closest = closest_in_source(axes);
  // Where no vectors help, lines of the source that stay in the cache until they are
  // read again need no blocks.
  std::int64_t lines = 1;
  for (int i = closest + 1; i <= inner; ++i) lines *= axes[i].extent;
  const bool is_read_ahead = axes[inner].dst >= kLine && std::abs(axes[inner].src) < kTuning.far_apart;
  const bool has_vectors = axes[inner].dst == run_ && std::abs(axes[closest].src) == run_;
  const bool pays = has_vectors || (lines > kTuning.lines_in_cache && !is_read_ahead);
  is_transposed_ = closest != inner && run_ < kLine && axes[inner].extent >= kLine / 16 && pays &&
                   in_a_line(axes[closest]) >= 2 * in_a_line(axes[inner]);
  if (is_transposed_) return closest;
  if (axes[inner].extent * axes[inner - 1].extent >= kTuning.few_runs) return inner - 1;
  int longest = inner - 1;
  for (int i = inner - 1; i >= 0; --i) {
    if (axes[i].extent > axes[longest].extent) longest = i;
  }
  return longest;
}

// The first lines of each of its rows, on either side: they lie so far apart that the processor does not see them
// coming.
void Nest::prefetch(const std::byte* dst, const std::byte* src, const Plane& plane) {
  const auto fetch = [](const std::byte* row, std::int64_t bytes, auto writes) {
    for (std::int64_t at = 0; at < bytes + kLine - 1; at += kLine) {
      __builtin_prefetch(row + std::min(at, bytes - 1), decltype(writes)::value);
    }
  };
  const std::int64_t up = std::min<std::int64_t>(0, (plane.rows - 1) * plane.row_src);
  const std::int64_t row_bytes = plane.count * plane.dst_stride, src_bytes = plane.rows * std::abs(plane.row_src);
  asm volatile("");  // GCC leaves out calls of functions that only prefetch: they seem to have no effect
  for (std::int64_t i = 0; i < plane.rows; ++i) fetch(dst + i * plane.row_dst, row_bytes, std::true_type());
  for (std::int64_t i = 0; i < plane.count; ++i) fetch(src + i * plane.src_stride + up, src_bytes, std::false_type());
}

void Nest::add_blocks(const NestAxis& axis, std::int64_t Plane::* blocked, std::int64_t block) {
  if (axis.extent <= block + block / 2) return;  // no block of a few positions is worth its call
  const std::int64_t blocks = (axis.extent - 1) / block + 1;
  steps_.push_back({{blocks, block * axis.dst, block * axis.src}, blocked, block, axis.extent});
  plane_.*blocked = block;
}

void Nest::arrange(const Axes& axes) {
  if (axes.empty()) return;
  const int inner = axes.size() - 1;
  const NestAxis items = axes[inner];
  plane_.count = items.extent, plane_.dst_stride = items.dst, plane_.src_stride = items.src;
  if (inner == 0) return;
  const int rows = choose_rows(axes);
  const NestAxis across = axes[rows];
  plane_.rows = across.extent, plane_.row_dst = across.dst, plane_.row_src = across.src;
  const bool swaps = !is_transposed_ && items.extent < kTuning.short_row && across.extent > items.extent;
  if (swaps) {
    plane_ = {items.extent, items.dst, items.src, across.extent, across.dst, across.src};
  }
  if (!is_transposed_) {
    for (int i = 0; i < inner; ++i) {
      if (i != rows) {
        steps_.push_back({axes[i], nullptr, 0, 0});
      } else if (swaps || rows != inner - 1) {
        add_blocks(across, swaps ? &Plane::count : &Plane::rows, kTuning.rows_in_cache);
      }
    }
    return;
  }
  // The source is walked along its lines, which are few enough at a time for its pages and their prefetching. Axes that
  // go on with the lines of a block come within it: of the source, or of the destination where a row is no whole line.
  const std::int64_t block = std::clamp<std::int64_t>(2 * kLine / run_, 16, kLine);
  int within = items.extent * run_ < 2 * kLine ? rows : inner;
  for (int i = within - 1; i >= 0; --i) {
    if (i != rows && std::abs(axes[i].src) < kLine) within = i;
  }
  looks_ahead_ = bytes_ > kTuning.prefetched;
  for (int i = 0; i <= inner; ++i) {
    if (i == within) {
      // Of few rows, longer ones; and the other way round.
      add_blocks(items, &Plane::count, std::max(block, block * block / across.extent));
      add_blocks(across, &Plane::rows, std::max(block, block * block / items.extent));
    }
    if (i != rows && i != inner) steps_.push_back({axes[i], nullptr, 0, 0});
  }
}

// -- Nests at work

namespace {

// A source that stays at one item.
Plane without_source(Plane plane) {
  plane.row_src = plane.src_stride = 0;
  return plane;
}

}  // namespace

void prefetch_items(const std::byte* first, std::int64_t stride, std::int64_t count) {
  const std::int64_t items = std::max<std::int64_t>(1, kLine / std::abs(stride));
  for (std::int64_t i = 0; i < count; i += items) __builtin_prefetch(first + i * stride);
}

void Nest::move(std::byte* dst, const std::byte* src, const RowKernels& rows) const {
  const auto move_plane = move_variant(rows, plane_, run_).run;
  for_each_plane(dst, src,
                 [&](std::byte* to, const std::byte* from, const Plane& plane) { move_plane(to, from, plane, run_); });
}

void Nest::zero(std::byte* dst, const RowKernels& rows, bool streams) const {
  alignas(kLine) static constexpr std::byte kZeros[1024] = {};
  if (!streams && is_one_run()) return rows.write_zeros(dst, run_, run_);
  if (run_ <= static_cast<std::int64_t>(sizeof(kZeros))) {
    const auto move_plane = move_variant(rows, without_source(plane_), run_).run;
    return for_each_plane(dst, kZeros, [&](std::byte* to, const std::byte*, const Plane& plane) {
      move_plane(to, kZeros, without_source(plane), run_);
    });
  }
  for_each_plane(dst, kZeros, [&](std::byte* to, const std::byte*, const Plane& plane) {
    for (std::int64_t row = 0; row < plane.rows; ++row) {
      for (std::int64_t i = 0; i < plane.count; ++i) {
        std::byte* const at = to + row * plane.row_dst + i * plane.dst_stride;
        streams ? rows.stream_zeros(at, run_) : rows.write_zeros(at, run_, bytes_);
      }
    }
  });
  if (streams) rows.fence();
}

FillNest::FillNest(std::span<const Loop> loops, std::int64_t item_size) : moves_(Nest::taken(loops, item_size)) {
  bool takes_all = true;
  for (const Loop& loop : loops) {
    takes_all &= loop.takes_all();
    takes_any_ &= loop.count > 0;
    dst_offset_ += loop.start * loop.dst_stride;
  }
  if (!takes_all) zeros_ = Nest::written(loops, item_size);
}

namespace {

// Adds what a nest takes to what is there.
class NestSum {
 public:
  NestSum(const Nest& nest, DType dtype, std::int64_t item_size, const RowKernels& rows)
      : nest_(nest),
        rows_(rows),
        item_size_(item_size),
        add_row_(addition_of(dtype, rows)),
        add_plane_(rows.add_plane[static_cast<int>(dtype)]) {}

  void run(std::byte* dst, const std::byte* src) const {
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

 private:
  // Whether terms are made dense first: where only rows are added; or where vectors do that, and sums are dense or else
  // far from lines of terms.
  bool packs() const {
    const Plane& plane = nest_.plane();
    if (plane.count == 1) return false;
    if (add_plane_ == nullptr) return nest_.run() <= kTuning.packed_run;
    if (nest_.run() != item_size_) return false;
    const bool by_vectors = !move_variant(rows_, plane, item_size_).is_general;
    if (nest_.is_transposed()) return by_vectors && item_size_ < 8 && plane.count * plane.rows >= 8;
    return by_vectors && item_size_ <= 8 && plane.dst_stride == item_size_ && plane.count >= 8;
  }

  void move(std::byte* dst, const std::byte* src, const Plane& plane) const {
    move_variant(rows_, plane, nest_.run()).run(dst, src, plane, nest_.run());
  }

  // A few kilobytes at a time. Sums that are not dense are made so too, and put back.
  void add_packed(std::byte* dst, const std::byte* src, const Plane& plane) const {
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
        if (next > 0 && src_stride != 0 && std::abs(src_stride) <= kLine)
          prefetch_items(src + row * plane.row_src + (i + count) * src_stride, src_stride, next);
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

  const Nest& nest_;
  const RowKernels& rows_;
  std::int64_t item_size_;
  AddRow add_row_;
  AddPlane add_plane_;
};

}  // namespace

void Nest::add(std::byte* dst, const std::byte* src, DType dtype, std::int64_t item_size,
               const RowKernels& rows) const {
  NestSum(*this, dtype, item_size, rows).run(dst, src);
}

}  // namespace backslice
