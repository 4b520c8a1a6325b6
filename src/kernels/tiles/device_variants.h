// How threads can sum up the slices of DeviceTiles, best first: what dispatch, tests and benchmarks walk.
#pragma once

#include <array>
#include <string>

#include "kernels/cuda/portable.h"
#include "kernels/tiles/device_tiles.h"

namespace backslice::cuda {

// What a block of threads has in common: a run of a row, where nothing is added or something may be, or nothing.
enum class TileWay { RowsApart, Rows, Units };

struct TileVariant {
  TileWay way;
  int width;  // of a unit, in bytes
  int rank;   // as many axes as the kernel was compiled for, or 0 for any number

  bool can_run(const DeviceTiles& tiles) const {
    if (tiles.width != width || (rank != 0 && rank != tiles.rank)) return false;
    return way == TileWay::Units || (tiles.by_rows && (way == TileWay::Rows || !tiles.adds));
  }
};

inline constexpr auto kTileVariants = [] {
  std::array<TileVariant, 3 * std::size(kCounts) * std::size(kWidths)> variants{};
  std::size_t next = 0;
  for (TileWay way : {TileWay::RowsApart, TileWay::Rows, TileWay::Units}) {
    for (int rank : kCounts) {
      for (int width : kWidths) variants[next++] = {way, width, rank};
    }
  }
  return variants;
}();

// The best that can run them; there always is one.
inline const TileVariant& tile_variant(const DeviceTiles& tiles) {
  return first_of(kTileVariants, [&](const TileVariant& variant) { return variant.can_run(tiles); });
}

// "rows_of_16_rank_2"
inline std::string to_string(const TileVariant& variant) {
  const char* const ways[] = {"rows_apart", "rows", "units"};
  return std::string(ways[static_cast<int>(variant.way)]) + "_of_" + std::to_string(variant.width) +
         (variant.rank == 0 ? "" : "_rank_" + std::to_string(variant.rank));
}

}  // namespace backslice::cuda
