// How a thread can run its part of a DevicePlan, best first: what dispatch, tests and benchmarks walk.
#pragma once

#include <array>
#include <string>

#include "kernels/cuda/addition.h"
#include "kernels/cuda/portable.h"
#include "kernels/slice/device_rows.h"

namespace backslice::cuda {

// What a kernel writes in parts. `Apart` are items, too: those that are taken first, then the zeros. Memory that is
// read now and then while it is written is slower than either alone.
enum class Grain { Apart, Chunk, Item };

struct FillVariant {
  Grain grain;
  int width;  // of an item, in bytes
  int loops;  // as many as the kernel was compiled for, or 0 for any number

  bool can_run(const DevicePlan& plan) const {
    if (plan.width != width || (loops != 0 && loops != plan.loops)) return false;
    if (grain == Grain::Apart) return plan.loops > 0;
    return grain == Grain::Item || plan.is_dense;
  }

  // Whether it is worth its while, of those that can run. On an H200, kernels that write zeros apart are 5 to 25 %
  // faster up to a quarter of items that are taken, and slower from a half on, since their threads skip what is taken.
  bool pays(const DevicePlan& plan) const {
    constexpr std::uint32_t kMany = 1 << 21;
    if (grain != Grain::Apart) return true;
    const std::uint32_t taken = taken_items(plan);
    return plan.is_dense && plan.items >= kMany && taken > 0 && taken <= plan.items / 4;
  }

  std::uint32_t parts(const DevicePlan& plan) const { return grain == Grain::Chunk ? chunks_of(plan) : plan.items; }

  static std::uint32_t taken_items(const DevicePlan& plan) {
    std::uint32_t taken = 1;
    for (int i = 0; i < plan.loops; ++i) taken *= plan.loop[i].count;
    return taken;
  }
};

// The widest items apart, then chunks before items, and kernels that know the number of loops before those that do not.
inline constexpr auto kFillVariants = [] {
  std::array<FillVariant, (1 + 2 * std::size(kWidths)) * std::size(kCounts)> variants{};
  std::size_t next = 0;
  for (int loops : kCounts) variants[next++] = {Grain::Apart, 16, loops};
  for (Grain grain : {Grain::Chunk, Grain::Item}) {
    for (int loops : kCounts) {
      for (int width : kWidths) variants[next++] = {grain, width, loops};
    }
  }
  return variants;
}();

// "chunks of 4 bytes' items, 2 loops"
inline std::string to_string(const FillVariant& variant) {
  const char* const parts[] = {"zeros_apart", "chunks", "items"};
  return std::string(parts[static_cast<int>(variant.grain)]) + "_of_" + std::to_string(variant.width) +
         (variant.loops == 0 ? "" : "_loops_" + std::to_string(variant.loops));
}

// The best that can run it; there always is one.
inline const FillVariant& fill_variant(const DevicePlan& plan) {
  return first_of(kFillVariants,
                  [&](const FillVariant& variant) { return variant.can_run(plan) && variant.pays(plan); });
}

// Fills one part of chunks or items.
template <int kWidth, int kLoops, Grain kGrain, int kMostLoops>
BACKSLICE_HD void fill_part(const DevicePlanOf<kMostLoops>& plan, std::uint32_t part) {
  if constexpr (kGrain == Grain::Chunk) {
    fill_chunk<kWidth, kLoops>(plan, part);
  } else {
    fill_item<kWidth, kLoops>(plan, part);
  }
}

// Adds one item of a plan that takes all of them. The item may be several numbers of the addition.
template <int kWidth, int kLoops, int kMostLoops>
BACKSLICE_HD void add_item(const DevicePlanOf<kMostLoops>& plan, const Addition& addition, std::uint32_t item) {
  const Place place = locate<kLoops>(plan, item);
  std::byte* to = place.dst + place.position * dst_stride_of<kLoops>(plan);
  const std::byte* from = place.src;
  if (loops_of<kLoops>(plan) > 0) from += place.position * innermost<kLoops>(plan).src_stride;
  store_item<kWidth>(to, sums_of<kWidth>(addition, load_item<kWidth>(to), load_item<kWidth>(from)));
}

}  // namespace backslice::cuda
