#include "kernels/nest/nest.h"

#include <algorithm>
#include <cstdlib>

namespace backslice {
namespace {

bool goes_on(const NestAxis& outer, const NestAxis& inner) {
  return outer.dst == inner.extent * inner.dst && outer.src == inner.extent * inner.src;
}

// The axis along which the source's positions are closest; of several, the innermost.
int closest_in_source(const InlineVector<NestAxis>& axes) {
  int best = axes.size() - 1;
  for (int i = best; i >= 0; --i) {
    if (std::abs(axes[i].src) < std::abs(axes[best].src)) best = i;
  }
  return best;
}

constexpr std::int64_t kFewRuns = 32;  // fewer than these in a plane, and calling the kernel takes longer than they do
constexpr std::int64_t kShortRow = 4;  // a shorter row is walked across
constexpr std::int64_t kRowsInCache = 128;  // whose lines stay in the L1 cache

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
  is_transposed_ =
      closest != inner && run_ < kLine && std::abs(axes[inner].src) >= 2 * run_ && axes[inner].extent >= kLine / 16;
  if (is_transposed_) return closest;
  if (axes[inner].extent * axes[inner - 1].extent >= kFewRuns) return inner - 1;
  int longest = inner - 1;
  for (int i = inner - 1; i >= 0; --i) {
    if (axes[i].extent > axes[longest].extent) longest = i;
  }
  return longest;
}

void Nest::add_blocks(const NestAxis& axis, std::int64_t Plane::* blocked, std::int64_t block) {
  if (axis.extent <= block) return;
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
  const bool swaps = !is_transposed_ && items.extent < kShortRow && across.extent > items.extent;
  if (swaps) {
    plane_ = {items.extent, items.dst, items.src, across.extent, across.dst, across.src};
  }
  for (int i = 0; i < inner; ++i) {
    if (i != rows) {
      steps_.push_back({axes[i], nullptr, 0, 0});
    } else if (!is_transposed_ && (swaps || rows != inner - 1)) {
      add_blocks(across, swaps ? &Plane::count : &Plane::rows, kRowsInCache);
    }
  }
  if (is_transposed_) {
    // The source is walked along its lines, which are few enough at a time for its pages and their prefetching.
    const std::int64_t block = std::clamp<std::int64_t>(2 * kLine / run_, 16, kLine);
    add_blocks(items, &Plane::count, block);
    add_blocks(across, &Plane::rows, block);
  }
}

}  // namespace backslice
