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

}  // namespace backslice
