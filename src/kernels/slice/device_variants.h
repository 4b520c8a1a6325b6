// How a thread can run its part of a DevicePlan, best first: what dispatch, tests and benchmarks walk.
#pragma once

#include <array>
#include <string>

#include "kernels/cuda/addition.h"
#include "kernels/slice/device_rows.h"

namespace backslice::cuda {

// What a kernel writes in parts.
enum class Grain { Chunk, Item };

struct FillVariant {
  Grain grain;
  int width;  // of an item, in bytes
  int loops;  // as many as the kernel was compiled for, or 0 for any number

  bool can_run(const DevicePlan& plan) const {
    return plan.width == width && (loops == 0 || loops == plan.loops) && (grain == Grain::Item || plan.is_dense);
  }
  std::uint32_t parts(const DevicePlan& plan) const { return grain == Grain::Chunk ? chunks_of(plan) : plan.items; }
};

inline constexpr int kItemWidths[] = {16, 8, 4, 2, 1};
inline constexpr int kLoopCounts[] = {1, 2, 3, 0};

// Chunks before items, and kernels that know the number of loops before those that do not.
inline constexpr auto kFillVariants = [] {
  std::array<FillVariant, 2 * std::size(kItemWidths) * std::size(kLoopCounts)> variants{};
  std::size_t next = 0;
  for (Grain grain : {Grain::Chunk, Grain::Item}) {
    for (int loops : kLoopCounts) {
      for (int width : kItemWidths) variants[next++] = {grain, width, loops};
    }
  }
  return variants;
}();

// "chunks of 4 bytes' items, 2 loops"
inline std::string to_string(const FillVariant& variant) {
  return std::string(variant.grain == Grain::Chunk ? "chunks" : "items") + "_of_" + std::to_string(variant.width) +
         (variant.loops == 0 ? "" : "_loops_" + std::to_string(variant.loops));
}

// The best that can run it; there always is one.
inline const FillVariant& fill_variant(const DevicePlan& plan) {
  const FillVariant* variant = kFillVariants.data();
  while (!variant->can_run(plan)) ++variant;
  return *variant;
}

// Fills one part.
template <int kWidth, int kLoops, Grain kGrain>
BACKSLICE_HD void fill_part(const DevicePlan& plan, std::uint32_t part) {
  if constexpr (kGrain == Grain::Chunk) {
    fill_chunk<kWidth, kLoops>(plan, part);
  } else {
    fill_item<kWidth, kLoops>(plan, part);
  }
}

// Adds one item of a plan that takes all of them. The item may be several numbers of the addition.
template <int kWidth, int kLoops>
BACKSLICE_HD void add_item(const DevicePlan& plan, const Addition& addition, std::uint32_t item) {
  const Place place = locate<kLoops>(plan, item);
  std::byte* to = place.dst + place.position * dst_stride_of<kLoops>(plan);
  const std::byte* from = place.src;
  if (loops_of<kLoops>(plan) > 0) from += place.position * innermost<kLoops>(plan).src_stride;
  store_item<kWidth>(to, sums_of<kWidth>(addition, load_item<kWidth>(to), load_item<kWidth>(from)));
}

}  // namespace backslice::cuda
