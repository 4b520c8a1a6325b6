#include "kernels/tiles/device_tiles.h"

#include <algorithm>

namespace backslice::cuda {
namespace {

constexpr std::int64_t kMostUnits = (std::int64_t{1} << 31) - 1;
// -- Cells

struct Cells {
  int axis = -1;  // none: one cell has all slices
  std::uint32_t shift = 0;
  std::int64_t count = 1;
};

std::int64_t entries_of(const CommonAxes& common, int axis, std::uint32_t shift) {
  std::int64_t entries = 0;
  for (std::int64_t s = 0; s < common.slices(); ++s) {
    const AxisPart& part = common.slice(s)[axis];
    entries += (part.last() >> shift) - (part.start >> shift) + 1;
  }
  return entries;
}

double slices_per_cell(const CommonAxes& common, const Cells& cells) {
  return static_cast<double>(entries_of(common, cells.axis, cells.shift)) / static_cast<double>(cells.count);
}

// Chooses cells of the innermost axis that contain all units of a block of threads, if that adds few slices to each.
Cells fit_for_rows(const CommonAxes& common, const Cells& cells) {
  constexpr double kFew = 4;
  if (cells.axis < 0 || cells.axis != common.rank() - 1 || cells.shift >= kRowShift) return cells;
  const Cells wide{cells.axis, kRowShift, ((common.axis(cells.axis).extent - 1) >> kRowShift) + 1};
  return slices_per_cell(common, wide) <= kFew ? wide : cells;
}

// Number of cells of an axis, and entries of all cells together.
std::int64_t most_entries(std::int64_t slices) { return 1024 + 8 * slices; }

// Chooses the axis and the size of its cells with the fewest slices per cell, in tables not much larger than those of
// the slices.
Cells choose_cells(const CommonAxes& common) {
  Cells best;
  double fewest = 0.75 * static_cast<double>(common.slices());  // little better than one cell is not worth it
  for (int axis = 0; axis < common.rank(); ++axis) {
    const std::int64_t most = most_entries(common.slices());
    Cells cells{axis, 0, common.axis(axis).extent};
    while (cells.count > most || (cells.count > 1 && entries_of(common, axis, cells.shift) > most)) {
      ++cells.shift;
      cells.count = ((common.axis(axis).extent - 1) >> cells.shift) + 1;
    }
    const double mean = slices_per_cell(common, cells);
    if (mean < fewest) fewest = mean, best = cells;
  }
  return fit_for_rows(common, best);
}

void list_slices(const CommonAxes& common, const Cells& cells, TileTables& tables) {
  tables.first_of_cell.assign(static_cast<std::size_t>(cells.count) + 1, 0);
  const auto for_each_entry = [&](const auto& body) {
    for (std::int64_t s = 0; s < common.slices(); ++s) {
      if (cells.axis < 0) {
        body(s, 0);
        continue;
      }
      const AxisPart& part = common.slice(s)[cells.axis];
      for (std::int64_t c = part.start >> cells.shift; c <= part.last() >> cells.shift; ++c) body(s, c);
    }
  };
  for_each_entry([&](std::int64_t, std::int64_t c) { ++tables.first_of_cell[static_cast<std::size_t>(c) + 1]; });
  for (std::size_t c = 1; c < tables.first_of_cell.size(); ++c) tables.first_of_cell[c] += tables.first_of_cell[c - 1];
  tables.slices.resize(tables.first_of_cell.back());
  std::vector<std::uint32_t> next = tables.first_of_cell;
  for_each_entry([&](std::int64_t s, std::int64_t c) {
    tables.slices[next[static_cast<std::size_t>(c)]++] = static_cast<std::uint32_t>(s);
  });
}

DeviceCells device_cells(const CommonAxes& common, const Cells& cells, std::int64_t units) {
  DeviceCells made;
  std::int64_t inner = cells.axis < 0 ? units : 1;
  for (int k = cells.axis + 1; cells.axis >= 0 && k < common.rank(); ++k) inner *= common.axis(k).extent;
  made.inner = FastDivisor(inner);
  made.extent = FastDivisor(cells.axis < 0 ? 1 : common.axis(cells.axis).extent);
  made.shift = cells.shift;
  return made;
}

// -- The tables

// Whether a row is worth a block of threads, and all slices of a cell fit its memory.
bool by_rows(const CommonAxes& common, const Cells& cells, const TileTables& tables) {
  constexpr std::int64_t kLongRow = 128;
  if (common.rank() == 0 || common.axes.back().extent < kLongRow) return false;
  if (cells.axis == common.rank() - 1 && cells.shift < kRowShift) return false;
  const auto& first = tables.first_of_cell;
  for (std::size_t c = 1; c < first.size(); ++c) {
    if (first[c] - first[c - 1] > kMostInCell) return false;
  }
  return true;
}

TileTables tables_of(const CommonAxes& common, std::int64_t width, std::byte* dst, const Addition* addition,
                     bool accumulates) {
  TileTables tables;
  DeviceTiles& tiles = tables.tiles;
  tiles.dst = dst;
  tiles.units = static_cast<std::uint32_t>(common.positions());
  tiles.width = static_cast<std::int32_t>(width);
  tiles.rank = common.rank();
  tiles.is_dense = is_dense(common, width);
  tiles.accumulates = accumulates;
  tiles.adds = addition != nullptr;
  if (tiles.adds) tiles.addition = *addition;
  for (int k = 0; k < common.rank(); ++k) {
    tiles.axis[k].extent = FastDivisor(common.axis(k).extent);
    tiles.axis[k].dst_stride = common.axis(k).dst_stride;
  }
  for (const AxisPart& part : common.parts) {
    DevicePart made;
    made.step = FastDivisor(part.step);
    made.start = static_cast<std::uint32_t>(part.start);
    made.count = static_cast<std::uint32_t>(part.count);
    made.src_stride = part.src_stride;
    tables.parts.push_back(made);
  }
  tables.sources = common.sources;
  const Cells cells = choose_cells(common);
  list_slices(common, cells, tables);
  tiles.cells = device_cells(common, cells, tiles.units);
  tiles.by_rows = by_rows(common, cells, tables);
  return tables;
}

// Returns the slices within some positions of an axis.
CommonAxes restricted_to(const CommonAxes& common, int axis, Range positions) {
  CommonAxes box;
  box.axes = common.axes;
  box.axis(axis).extent = positions.hi - positions.lo;
  for (std::int64_t s = 0; s < common.slices(); ++s) {
    const PlacedLoop placed = restricted(common.loop(s, axis), positions);
    if (placed.loop.count == 0) continue;
    for (int k = 0; k < common.rank(); ++k) box.parts.push_back(common.slice(s)[k]);
    AxisPart& part = box.parts[box.parts.size() - static_cast<std::size_t>(common.rank() - axis)];
    part = {placed.loop.start, placed.loop.step, placed.loop.count, placed.loop.src_stride};
    box.sources.push_back(common.sources[static_cast<std::size_t>(s)] + placed.src_offset);
  }
  return box;
}

// Cuts along the outermost axis with more than one position, until 31 bits can count the positions of each part.
void add_tables(const CommonAxes& common, std::int64_t width, std::byte* dst, const Addition* addition,
                bool accumulates, std::vector<TileTables>& made) {
  const std::int64_t units = common.positions();
  if (units <= kMostUnits) return made.push_back(tables_of(common, width, dst, addition, accumulates));
  int axis = 0;
  while (common.axis(axis).extent == 1) ++axis;
  const std::int64_t extent = common.axis(axis).extent;
  const std::int64_t run = std::max<std::int64_t>(1, kMostUnits / (units / extent));
  for (std::int64_t lo = 0; lo < extent; lo += run) {
    const CommonAxes box = restricted_to(common, axis, {lo, std::min(extent, lo + run)});
    add_tables(box, width, dst + lo * common.axis(axis).dst_stride, addition, accumulates, made);
  }
}

}  // namespace

DeviceTiles TileTables::in_place() const {
  DeviceTiles placed = tiles;
  placed.parts = parts.data();
  placed.sources = sources.data();
  placed.first_of_cell = first_of_cell.data();
  placed.slices = slices.data();
  return placed;
}

std::int64_t most_table_bytes(std::int64_t slices, int rank) {
  constexpr std::int64_t kTables = 4, kPadding = 16;
  const auto parts = static_cast<std::int64_t>(sizeof(DevicePart)) * (rank + 1);  // items may be cut: one more axis
  const auto entry = static_cast<std::int64_t>(sizeof(std::uint32_t));
  return kTables * kPadding + slices * (parts + static_cast<std::int64_t>(sizeof(const std::byte*))) +
         entry * (2 * most_entries(slices) + 1);
}

std::vector<TileTables> tile_tables(const CommonAxes& given, std::int64_t item_size, std::byte* first_dst,
                                    const Addition* addition, bool accumulates) {
  if (item_size == 0) return {};
  CommonAxes common = given;
  std::byte* dst = first_dst + common.dst_offset;
  // Bytes that are only moved may be cut anywhere.
  const std::int64_t width = count_in_units(common, item_size, addition == nullptr, dst);
  std::vector<TileTables> made;
  add_tables(common, width, dst, addition, accumulates, made);
  return made;
}

}  // namespace backslice::cuda
