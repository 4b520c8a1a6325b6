// The work of one thread of a DevicePlan: index arithmetic and moves, for kernels and for tests on the CPU.
//
// A dense destination is cut into aligned chunks of sixteen bytes, whatever its rows are; for others, a thread writes
// one item. Both are gathered: the thread knows its part of the output, and finds the source.
#pragma once

#include <array>
#include <string>

#include "kernels/cuda/addition.h"
#include "kernels/cuda/portable.h"
#include "kernels/slice/device_plan.h"

namespace backslice::cuda {

// A position of the innermost loop, and the source that the outer loops select.
struct Place {
  std::uint32_t position = 0;      // of the innermost loop
  const std::byte* src = nullptr;  // of its first selected position; null if the outer loops select nothing
  std::byte* dst = nullptr;        // of its first position
};

// Returns the number of loops: kLoops, known at compile time, or 0 for any number.
template <int kLoops, int kMostLoops>
BACKSLICE_HD int loops_of(const DevicePlanOf<kMostLoops>& plan) {
  return kLoops > 0 ? kLoops : plan.loops;
}

template <int kLoops, int kMostLoops>
BACKSLICE_HD const DeviceLoop& innermost(const DevicePlanOf<kMostLoops>& plan) {
  return plan.loop[loops_of<kLoops>(plan) - 1];
}

template <int kLoops, int kMostLoops>
BACKSLICE_HD Place locate(const DevicePlanOf<kMostLoops>& plan, std::uint32_t item) {
  Place place{item, plan.src, plan.dst};
  const int loops = loops_of<kLoops>(plan);
  if (loops == 0) return {0, plan.src, plan.dst};
  if (loops == 1) return place;
  const std::uint32_t rest = innermost<kLoops>(plan).extent.quotient(item);
  place.position = item - rest * innermost<kLoops>(plan).extent.divisor;
  bool is_taken = place.src != nullptr;
  const auto extent = [&](int i) -> const FastDivisor& { return plan.loop[i].extent; };
  for_each_position(loops - 1, rest, extent, [&](int i, std::uint32_t position) {
    const DeviceLoop& loop = plan.loop[i];
    const std::uint32_t index = taken_index(loop, position);
    is_taken = is_taken && index < loop.count;
    place.dst += position * loop.dst_stride;
    place.src += index * loop.src_stride;
    return true;
  });
  if (!is_taken) place.src = nullptr;
  return place;
}

// Returns the item at a position of the innermost loop.
template <int kWidth, int kLoops, int kMostLoops>
BACKSLICE_HD Item<kWidth> item_at(const DevicePlanOf<kMostLoops>& plan, const std::byte* src, std::uint32_t position) {
  if (src == nullptr) return {};
  if (loops_of<kLoops>(plan) == 0) return load<kWidth>(src);
  const DeviceLoop& loop = innermost<kLoops>(plan);
  const std::uint32_t index = taken_index(loop, position);
  if (index >= loop.count) return {};
  return load<kWidth>(src + index * loop.src_stride);
}

// -- Sixteen bytes within one row of the innermost loop, from `position` on. `src` is not null.

// Whether items of that width are adjacent in the source: in the order of the destination, or reversed.
BACKSLICE_HD bool runs_forwards(const DeviceLoop& loop, int width) { return loop.src_stride == width; }
BACKSLICE_HD bool runs_backwards(const DeviceLoop& loop, int width) { return loop.src_stride == -width; }

template <int kWidth, int kMostLoops>
BACKSLICE_HD Vector run_vector(const DevicePlanOf<kMostLoops>& plan, const DeviceLoop& loop, const std::byte* src,
                               std::uint32_t position) {
  constexpr std::uint32_t kItems = 16 / kWidth;
  if (position + kItems <= loop.start || position >= loop.start + loop.count) return {};
  const std::uint32_t index = position - loop.start;  // wraps below the start
  if (index < loop.count && index + kItems <= loop.count) {
    const std::byte* from = src + index * loop.src_stride;
    if (runs_forwards(loop, kWidth)) return load_anywhere(from, plan.readable);
    if (runs_backwards(loop, kWidth)) {
      return reversed<kWidth>(load_anywhere(from - (16 - kWidth), plan.readable));
    }
  }
  Vector vector;
  BACKSLICE_UNROLL
  for (std::uint32_t i = 0; i < kItems; ++i) {
    if (index + i < loop.count) put<kWidth>(vector, i, load<kWidth>(src + (index + i) * loop.src_stride));
  }
  return vector;
}

// Spreads the items of `word` over four words: items are `step` apart, the first at `first`. kMost is the largest
// number of items in a word.
template <int kWidth, int kMost>
BACKSLICE_HD Vector spread_word(std::uint64_t word, std::uint32_t first, std::uint32_t step) {
  constexpr std::uint32_t kPerWord = 4 / kWidth, kBits = 8 * kWidth, kOne = (1u << kBits) - 1;
  auto low = static_cast<std::uint32_t>(word), high = static_cast<std::uint32_t>(word >> 32);
  std::uint32_t words[4];
  BACKSLICE_UNROLL
  for (std::uint32_t& out : words) {
    out = 0;
    BACKSLICE_UNROLL
    for (int i = 0; i < kMost; ++i) {
      if (first >= kPerWord) continue;
      out |= (low & kOne) << (kBits * first);
      low = funnel(low, high, kBits);
      high >>= kBits;
      first += step;
    }
    first -= kPerWord;
  }
  return vector_of(words[0], words[1], words[2], words[3]);
}

// The same for a step of two, from the first or second place on: zeros between the items.
template <int kWidth>
BACKSLICE_HD Vector interleave_word(std::uint64_t word, std::uint32_t first) {
  std::uint32_t words[4];
  BACKSLICE_UNROLL
  for (int i = 0; i < 4; ++i) {
    const auto half = static_cast<std::uint32_t>(word >> (16 * i)) & 0xffffu;
    words[i] = kWidth == 2 ? half : (half & 0xffu) | (half & 0xff00u) << 8;
    words[i] <<= 8 * kWidth * first;
  }
  return vector_of(words[0], words[1], words[2], words[3]);
}

BACKSLICE_HD std::uint32_t one_of(std::uint32_t i, std::uint32_t a, std::uint32_t b, std::uint32_t c) {
  return i == 0 ? a : i == 1 ? b : c;
}

// The same for a step of three, from the first to third place on. A selector chooses the bytes of `word` for each word;
// it depends on the place of the first item. 4 (of bytes) and 6 (of pairs) select zero.
template <int kWidth>
BACKSLICE_HD Vector triple_word(std::uint64_t word, std::uint32_t first) {
  const auto low = static_cast<std::uint32_t>(word), high = static_cast<std::uint32_t>(word >> 32);
  if constexpr (kWidth == 1) {
    return vector_of(permute(low, 0, one_of(first, 0x1440, 0x4404, 0x4044)),
                     permute(funnel(low, high, 8), 0, one_of(first, 0x4144, 0x1440, 0x4404)),
                     permute(funnel(low, high, 16), 0, one_of(first, 0x4414, 0x4144, 0x1440)),
                     permute(funnel(low, high, 24), 0, one_of(first, 0x2441, 0x4414, 0x4144)));
  } else {
    const std::uint32_t third = high & 0xffffu;
    return vector_of(permute(low, third, one_of(first, 0x6610, 0x1066, 0x6666)),
                     permute(low, third, one_of(first, 0x3266, 0x6666, 0x6610)),
                     permute(low, third, one_of(first, 0x6666, 0x6632, 0x3266)),
                     permute(low, third, one_of(first, 0x6654, 0x5466, 0x6666)));
  }
}

template <int kWidth>
BACKSLICE_HD Vector spread(std::uint64_t word, std::uint32_t first, std::uint32_t step) {
  if (step == 2 && first < 2) return interleave_word<kWidth>(word, first);
  if (step == 3 && first < 3) return triple_word<kWidth>(word, first);
  if (kWidth == 1 && step < 4) return spread_word<kWidth, 2>(word, first, step);
  return spread_word<kWidth, 1>(word, first, step);
}

// Items up to this width are read several at once if they have steps between them.
inline constexpr int kWidestSpread = 2;

// Computes a vector of items that are `step` apart; at most every second one is selected.
template <int kWidth, int kMostLoops>
BACKSLICE_HD Vector stepped_vector(const DevicePlanOf<kMostLoops>& plan, const DeviceLoop& loop, const std::byte* src,
                                   std::uint32_t position) {
  constexpr std::uint32_t kItems = 16 / kWidth, kMost = (kItems + 1) / 2;
  const std::uint32_t step = loop.step.divisor;
  std::uint32_t index = 0;
  if (position > loop.start) {  // rounded up, without a sum that is too large to divide
    const std::uint32_t from_start = position - loop.start;
    index = loop.step.quotient(from_start);
    index += index * step != from_start;
  }
  const std::uint32_t first = loop.start + index * step - position;  // position of the next item in the vector
  if (index >= loop.count || first >= kItems) return {};
  const std::byte* from = src + index * loop.src_stride;
  const std::uint32_t left = loop.count - index;
  if constexpr (kWidth <= kWidestSpread) {
    if (runs_forwards(loop, kWidth)) {
      // Usually the words around them belong to this row, which is faster to check than whether they are readable.
      if (index * kWidth >= 3 && left * kWidth >= 12) return spread<kWidth>(load_word_around(from), first, step);
      std::uint64_t word = load_word_anywhere(from, (left < kMost ? left : kMost) * kWidth, plan.readable);
      if (left < kMost) word &= (std::uint64_t{1} << (8 * kWidth * left)) - 1;
      return spread<kWidth>(word, first, step);
    }
  }
  if constexpr (kWidth == 4) {  // two items, the second in the upper half
    const std::uint32_t one = load<4>(from), next = first + step;
    const std::uint32_t two = next < 4 && left > 1 ? load<4>(from + loop.src_stride) : 0;
    return vector_of(first == 0 ? one : 0, first == 1 ? one : 0,
                     first == 2  ? one
                     : next == 2 ? two
                                 : 0,
                     first == 3  ? one
                     : next == 3 ? two
                                 : 0);
  }
  Vector vector;
  BACKSLICE_UNROLL
  for (std::uint32_t i = 0; i < kMost; ++i) {
    const std::uint32_t at = first + i * step;
    if (i < left && at < kItems) put<kWidth>(vector, at, load<kWidth>(from + i * loop.src_stride));
  }
  return vector;
}

// -- Chunks of a dense destination

// Computes a chunk item by item; items outside the destination are zero.
template <int kWidth, int kLoops, int kMostLoops>
BACKSLICE_HD Vector scattered_vector(const DevicePlanOf<kMostLoops>& plan, std::int32_t first) {
  constexpr std::uint32_t kItems = 16 / kWidth;
  const std::uint32_t extent = loops_of<kLoops>(plan) == 0 ? 1 : innermost<kLoops>(plan).extent.divisor;
  Vector vector;
  Place place;
  place.position = extent;  // as if at the end of a row
  for (std::uint32_t i = 0; i < kItems; ++i) {
    const std::uint32_t item = static_cast<std::uint32_t>(first) + i;  // wraps before the first
    if (item >= plan.items) continue;
    if (place.position == extent) place = locate<kLoops>(plan, item);
    put<kWidth>(vector, i, item_at<kWidth, kLoops>(plan, place.src, place.position++));
  }
  return vector;
}

// Returns the number of items of the first chunk that lie before the destination.
template <int kWidth, int kMostLoops>
BACKSLICE_HD std::uint32_t items_before(const DevicePlanOf<kMostLoops>& plan) {
  return static_cast<std::uint32_t>(address(plan.dst) & 15) / kWidth;
}

BACKSLICE_HD std::uint32_t chunks_of(const DevicePlan& plan) {
  const std::uint64_t bytes = static_cast<std::uint64_t>(plan.items) * static_cast<std::uint64_t>(plan.width);
  return static_cast<std::uint32_t>(((address(plan.dst) & 15) + bytes + 15) / 16);
}

// Computes a whole chunk. Precondition: there is a loop.
template <int kWidth, int kLoops, int kMostLoops>
BACKSLICE_HD Vector chunk_of(const DevicePlanOf<kMostLoops>& plan, std::uint32_t item) {
  constexpr std::uint32_t kItems = 16 / kWidth;
  const Place place = locate<kLoops>(plan, item);
  const DeviceLoop& loop = innermost<kLoops>(plan);
  if (place.position + kItems > loop.extent.divisor)
    return scattered_vector<kWidth, kLoops>(plan, static_cast<std::int32_t>(item));
  if (place.src == nullptr) return {};
  if (loop.step.divisor == 1) return run_vector<kWidth>(plan, loop, place.src, place.position);
  return stepped_vector<kWidth>(plan, loop, place.src, place.position);
}

// Writes chunk number `chunk`. Precondition: the plan is dense and has items of kWidth bytes; chunk < chunks_of(plan).
template <int kWidth, int kLoops, int kMostLoops>
BACKSLICE_HD void fill_chunk(const DevicePlanOf<kMostLoops>& plan, std::uint32_t chunk) {
  constexpr std::uint32_t kItems = 16 / kWidth;
  const auto first = static_cast<std::int32_t>(chunk * kItems - items_before<kWidth>(plan));
  std::byte* const to = plan.dst + static_cast<std::int64_t>(first) * kWidth;
  const auto items = static_cast<std::int32_t>(plan.items);
  if (first >= 0 && first + static_cast<std::int32_t>(kItems) <= items && loops_of<kLoops>(plan) > 0) {
    return store<16>(to, chunk_of<kWidth, kLoops>(plan, static_cast<std::uint32_t>(first)));
  }
  const Vector vector = scattered_vector<kWidth, kLoops>(plan, first);
  for (std::uint32_t i = 0; i < kItems; ++i) {
    if (static_cast<std::uint32_t>(first) + i >= plan.items) continue;
    if constexpr (kWidth == 16) {
      store<16>(to, vector);
    } else {
      const std::uint64_t half = i * kWidth < 8 ? vector.low : vector.high;
      store<kWidth>(to + i * kWidth, static_cast<Item<kWidth>>(half >> (8 * (i * kWidth % 8))));
    }
  }
}

// -- Items of any destination

// Returns the innermost loop's step from one position to the next.
template <int kLoops, int kMostLoops>
BACKSLICE_HD std::int64_t dst_stride_of(const DevicePlanOf<kMostLoops>& plan) {
  return loops_of<kLoops>(plan) == 0 ? 0 : innermost<kLoops>(plan).dst_stride;
}

// Writes one item.
template <int kWidth, int kLoops, int kMostLoops>
BACKSLICE_HD void fill_item(const DevicePlanOf<kMostLoops>& plan, std::uint32_t item) {
  const Place place = locate<kLoops>(plan, item);
  store<kWidth>(place.dst + place.position * dst_stride_of<kLoops>(plan),
                item_at<kWidth, kLoops>(plan, place.src, place.position));
}

// Writes zeros at positions that are not selected.
template <int kWidth, int kLoops, int kMostLoops>
BACKSLICE_HD void clear_item(const DevicePlanOf<kMostLoops>& plan, std::uint32_t item) {
  const Place place = locate<kLoops>(plan, item);
  const DeviceLoop& loop = innermost<kLoops>(plan);
  if (place.src != nullptr && taken_index(loop, place.position) < loop.count) return;
  store<kWidth>(place.dst + place.position * loop.dst_stride, {});
}

// -- The variants, best first: dispatch, tests and benchmarks walk them

// The parts of a kernel. `Apart` are items too: first the selected ones, then the zeros. Mixed reads and writes of
// memory are slower than either alone.
enum class Grain { Apart, Chunk, Item };

struct FillVariant {
  Grain grain;
  int width;  // of an item, in bytes
  int loops;  // number of loops for which the kernel was compiled, or 0 for any number

  bool can_run(const DevicePlan& plan) const {
    if (plan.width != width || (loops != 0 && loops != plan.loops)) return false;
    if (grain == Grain::Apart) return plan.loops > 0;
    return grain == Grain::Item || plan.is_dense;
  }

  // Whether it is faster than the variants after it that can run. On an H200, kernels that write zeros apart are 5 to
  // 25 % faster up to a quarter of selected items, and slower from a half on, since their threads skip selected items.
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

// The widest items apart, then chunks before items, and kernels with a known number of loops before others.
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

// Returns the best variant that can run it; there is always one.
inline const FillVariant& fill_variant(const DevicePlan& plan) {
  return first_of(kFillVariants,
                  [&](const FillVariant& variant) { return variant.can_run(plan) && variant.pays(plan); });
}

// Fills one part: a chunk or an item.
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
