#include "kernels/tiles/cuda.h"

#include "kernels/cuda/runtime.h"
#include "kernels/cuda/tables.h"
#include "kernels/tiles/cuda_kernels.h"

namespace backslice::cuda {
namespace {

void run(const TileTables& made, Allocator& allocator, DeviceStream queue) {
  Tables tables;
  const std::int64_t parts = tables.append(made.parts), sources = tables.append(made.sources),
                     cells = tables.append(made.first_of_cell), slices = tables.append(made.slices);
  const Buffer memory = tables.upload(allocator, queue);  // which goes behind the kernel
  DeviceTiles tiles = made.tiles;
  tiles.parts = reinterpret_cast<const DevicePart*>(memory.data() + parts);
  tiles.sources = reinterpret_cast<const std::byte* const*>(memory.data() + sources);
  tiles.first_of_cell = reinterpret_cast<const std::uint32_t*>(memory.data() + cells);
  tiles.slices = reinterpret_cast<const std::uint32_t*>(memory.data() + slices);
  check(sum_tiles(tiles, queue.stream), tiles.by_rows ? "row_sum" : "sum", queue.ordinal);
}

}  // namespace

void fill_tiles(const CommonAxes& common, DType dtype, std::int64_t item_size, bool disjoint, bool accumulates,
                std::byte* dst, Allocator& allocator, DeviceStream queue) {
  const DeviceGuard guard(queue.ordinal);
  Addition addition;
  const bool adds = !disjoint || accumulates;
  if (adds) addition = addition_of(dtype);
  for (const TileTables& made : tile_tables(common, item_size, dst, adds ? &addition : nullptr, accumulates)) {
    run(made, allocator, queue);
  }
}

}  // namespace backslice::cuda
