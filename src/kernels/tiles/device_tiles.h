// DeviceTiles: many slices of one destination as tables, and the work of one thread.
//
// A thread writes one unit. It finds the unit's cell on the axis that separates the slices best, and visits the slices
// of that cell in the order of the list.
#pragma once

#include <array>
#include <string>
#include <vector>

#include "kernels/cuda/addition.h"
#include "kernels/cuda/portable.h"
#include "kernels/cuda/positions.h"
#include "kernels/tiles/parts.h"

namespace backslice::cuda {

struct DevicePart {
  FastDivisor step;
  std::uint32_t start = 0, count = 0;
  std::int64_t src_stride = 0;
};

struct DeviceAxis {
  FastDivisor extent;
  std::int64_t dst_stride = 0;
};

// The slices of each cell along one axis.
struct DeviceCells {
  FastDivisor inner;        // units of one position of the axis
  FastDivisor extent;       // its positions
  std::uint32_t shift = 0;  // a cell is 2^shift positions
};

struct DeviceTiles {
  static constexpr int kMaxAxes = 33;

  std::byte* dst = nullptr;  // of the first position
  std::uint32_t units = 0;   // of the destination, less than 2^31
  std::int32_t width = 1;    // of a unit, in bytes
  std::int32_t rank = 0;
  bool is_dense = false;     // the destination has no gaps
  bool by_rows = false;      // rows of the innermost axis are long, and few slices meet each: see sum_in_row()
  bool adds = false;         // what meets is added, or all is accumulated; else the last slice wins
  bool accumulates = false;  // the sum is added to the destination, and nothing else is written
  Addition addition;         // where slices meet, or to what is there
  DeviceCells cells;
  DeviceAxis axis[kMaxAxes];  // outermost first

  // Tables on the device of the kernel: slice by slice, and for each cell the slices that may meet it, in the order of
  // the list.
  const DevicePart* parts = nullptr;
  const std::byte* const* sources = nullptr;
  const std::uint32_t* first_of_cell = nullptr;  // one more entry than cells
  const std::uint32_t* slices = nullptr;
};

// Tables on the CPU, and the struct that will point to them.
struct TileTables {
  DeviceTiles tiles;
  std::vector<DevicePart> parts;
  std::vector<const std::byte*> sources;
  std::vector<std::uint32_t> first_of_cell, slices;

  // Returns the struct with its tables on the CPU.
  DeviceTiles in_place() const;
};

// Makes tables of the slices of `dst`, in as many parts as 31-bit counts need. `addition` is null if nothing is added:
// the last slice wins.
std::vector<TileTables> tile_tables(const CommonAxes& common, std::int64_t item_size, std::byte* dst,
                                    const Addition* addition, bool accumulates);

// Returns an upper bound of the bytes of the tables of so many slices of a tensor of that rank, each aligned to 16
// bytes.
std::int64_t most_table_bytes(std::int64_t slices, int rank);

// Returns the number of axes: kRank, known at compile time, or 0 for any number.
template <int kRank>
BACKSLICE_HD int rank_of(const DeviceTiles& tiles) {
  return kRank > 0 ? kRank : tiles.rank;
}

struct ExtentsOf {
  const DeviceTiles& tiles;
  BACKSLICE_HD const FastDivisor& operator()(int k) const { return tiles.axis[k].extent; }
};

// Returns the slice's element for the unit, or null. All axes are read before any result is tested, so that the loads
// are in flight together.
template <int kRank>
BACKSLICE_HD const std::byte* source_of(const DeviceTiles& tiles, std::uint32_t slice, std::uint32_t unit) {
  const int rank = rank_of<kRank>(tiles);
  const DevicePart* parts = tiles.parts + static_cast<std::size_t>(slice) * static_cast<unsigned>(rank);
  const std::byte* source = tiles.sources[slice];
  std::uint64_t offset = 0;  // wraps, like an index, if the unit is not selected
  bool is_taken = true;
  for_each_position(rank, unit, ExtentsOf{tiles}, [&](int k, std::uint32_t position) {
    const DevicePart part = parts[k];
    const std::uint32_t from_start = position - part.start;  // wraps below the start, to more than any count
    const std::uint32_t index = part.step.quotient(from_start);
    is_taken = is_taken && position >= part.start && index < part.count && index * part.step.divisor == from_start;
    offset += index * static_cast<std::uint64_t>(part.src_stride);
    return true;
  });
  return is_taken ? source + static_cast<std::int64_t>(offset) : nullptr;
}

template <int kRank>
BACKSLICE_HD std::byte* place_of(const DeviceTiles& tiles, std::uint32_t unit) {
  std::byte* dst = tiles.dst;
  if (tiles.is_dense) return dst + static_cast<std::int64_t>(unit) * tiles.width;
  for_each_position(rank_of<kRank>(tiles), unit, ExtentsOf{tiles}, [&](int k, std::uint32_t position) {
    dst += position * tiles.axis[k].dst_stride;
    return true;
  });
  return dst;
}

BACKSLICE_HD std::uint32_t cell_of(const DeviceCells& cells, std::uint32_t unit) {
  const std::uint32_t outer = cells.inner.quotient(unit);
  return (outer - cells.extent.quotient(outer) * cells.extent.divisor) >> cells.shift;
}

// Writes one unit: the first contribution is copied, later ones are added, or replace it.
template <int kWidth>
class Sum {
 public:
  BACKSLICE_HD Sum(const DeviceTiles& tiles, std::byte* to) : tiles_(tiles), to_(to), is_first_(!tiles.accumulates) {}

  BACKSLICE_HD void add(const std::byte* source) {
    const Item<kWidth> term = load_item<kWidth>(source);
    if (tiles_.accumulates && is_untouched_) sum_ = load_item<kWidth>(to_);
    sum_ = is_first_ || !tiles_.adds ? term : sums_of<kWidth>(tiles_.addition, sum_, term);
    is_first_ = is_untouched_ = false;
  }

  BACKSLICE_HD void write() const {
    if (!tiles_.accumulates || !is_untouched_) store_item<kWidth>(to_, sum_);
  }

 private:
  const DeviceTiles& tiles_;
  std::byte* to_;
  Item<kWidth> sum_{};
  bool is_first_, is_untouched_ = true;
};

template <int kWidth, int kRank>
BACKSLICE_HD void sum_unit(const DeviceTiles& tiles, std::uint32_t unit) {
  const std::uint32_t cell = cell_of(tiles.cells, unit);
  Sum<kWidth> sum(tiles, place_of<kRank>(tiles, unit));
  const std::uint32_t end = tiles.first_of_cell[cell + 1];
  for (std::uint32_t i = tiles.first_of_cell[cell]; i < end; ++i) {
    if (const std::byte* source = source_of<kRank>(tiles, tiles.slices[i], unit)) sum.add(source);
  }
  sum.write();
}

// -- Row by row: the parts of a cell's slices in a row are found once for a range of its units.

inline constexpr std::uint32_t kMostInCell = 128;

// A block of threads writes 2^kRowShift units of a row, all in one cell.
inline constexpr std::uint32_t kRowShift = 8;

// A slice's part of a row.
struct RowPart {
  const std::byte* source = nullptr;  // null if it has none
  DevicePart part;
};

// Returns the part of slice number `i` of the row's cell in the row. `unit` is the first of the row.
template <int kRank>
BACKSLICE_HD RowPart row_part(const DeviceTiles& tiles, std::uint32_t i, std::uint32_t unit) {
  const int rank = rank_of<kRank>(tiles);
  const std::uint32_t slice = tiles.slices[i];
  const DevicePart* parts = tiles.parts + static_cast<std::size_t>(slice) * static_cast<unsigned>(rank);
  const std::byte* source = tiles.sources[slice];
  const std::uint32_t row = tiles.axis[rank - 1].extent.quotient(unit);
  const bool is_taken = for_each_position(rank - 1, row, ExtentsOf{tiles}, [&](int k, std::uint32_t position) {
    const std::uint32_t index = taken_index(parts[k], position);
    source += index * parts[k].src_stride;
    return index < parts[k].count;
  });
  return is_taken ? RowPart{source, parts[rank - 1]} : RowPart{};
}

// Writes the unit at a position of a row; `parts` are the parts of the slices in the row.
template <int kWidth, int kRank, bool kAdds>
BACKSLICE_HD void sum_in_row(const DeviceTiles& tiles, const RowPart* parts, std::uint32_t count, std::uint32_t unit,
                             std::uint32_t position) {
  Sum<kWidth> sum(tiles, place_of<kRank>(tiles, unit));
  for (std::uint32_t step = 0; step < count; ++step) {
    const std::uint32_t i = kAdds ? step : count - 1 - step;  // without additions, the last slice with the unit wins
    if (parts[i].source == nullptr) continue;
    const std::uint32_t index = taken_index(parts[i].part, position);
    if (index >= parts[i].part.count) continue;
    const std::byte* source = parts[i].source + index * parts[i].part.src_stride;
    if constexpr (!kAdds) return store<kWidth>(place_of<kRank>(tiles, unit), load<kWidth>(source));
    sum.add(source);
  }
  sum.write();
}

// -- The variants, best first: dispatch, tests and benchmarks walk them

// The common work of a block of threads: a range of a row without additions, with additions, or none.
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

// Returns the best variant that can run them; there is always one.
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
