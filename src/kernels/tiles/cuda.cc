#include "kernels/cuda/memory.h"
#include "kernels/cuda/runtime.h"
#include "kernels/tiles/cuda_kernels.h"
#include "kernels/tiles/kernel.h"

namespace backslice::cuda {
namespace {

void run(const TileTables& made, Allocator& allocator, DeviceStream queue) {
  const UploadedTiles uploaded(made, allocator, queue);  // its memory is freed after the kernel
  check(sum_tiles(uploaded.tiles, tile_variant(uploaded.tiles), queue.stream), "sum_tiles", queue.ordinal);
}

}  // namespace

UploadedTiles::UploadedTiles(const TileTables& made, Allocator& allocator, DeviceStream queue) : tiles(made.tiles) {
  Tables tables;
  const std::int64_t parts = tables.append(made.parts), sources = tables.append(made.sources),
                     cells = tables.append(made.first_of_cell), slices = tables.append(made.slices);
  memory = tables.upload(allocator, queue);
  tiles.parts = reinterpret_cast<const DevicePart*>(memory.data() + parts);
  tiles.sources = reinterpret_cast<const std::byte* const*>(memory.data() + sources);
  tiles.first_of_cell = reinterpret_cast<const std::uint32_t*>(memory.data() + cells);
  tiles.slices = reinterpret_cast<const std::uint32_t*>(memory.data() + slices);
}

void fill_tiles(const CommonAxes& common, DType dtype, std::int64_t item_size, Overlap overlap, bool accumulates,
                std::byte* dst, const KernelContext& context) {
  const DeviceGuard guard(context.queue.ordinal);
  Addition addition;
  const bool adds = overlap == Overlap::Added || accumulates;
  if (adds) addition = addition_of(dtype);
  for (const TileTables& made : tile_tables(common, item_size, dst, adds ? &addition : nullptr, accumulates)) {
    run(made, context.allocator, context.queue);
  }
}

}  // namespace backslice::cuda
