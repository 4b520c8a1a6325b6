// Sums of segments: one thread per item of the destination, its terms added in their order.
#include "kernels/concat/cuda_segments.cuh"
#include "kernels/cuda/unaligned.h"

namespace backslice::cuda {
namespace {

template <int kBytes>
__global__ void __launch_bounds__(kSegmentThreads)
    add_kernel(const __grid_constant__ SegmentTable table, const __grid_constant__ Addition addition, bool is_aligned,
               SegmentSums sums) {
  __shared__ KeptSegments kept;
  const TileSegments segments(table, blockIdx.x, kept);
  // Items are counted from the destination's first: a tile may begin within one, which belongs to the tile before it.
  const std::int64_t before = tile_begin(table, blockIdx.x);
  const int first = segments.lo() + static_cast<int>((kBytes - before % kBytes) % kBytes);
  for (int at = first + static_cast<int>(threadIdx.x) * kBytes; at < segments.hi(); at += kSegmentThreads * kBytes) {
    const int segment = segments.find(at);
    const std::byte* base = segments.base(segment);
    std::byte* to = segments.dst(at);
    if (sums == SegmentSums::AddTo) {
      if (base == nullptr) continue;
      const Item<kBytes> term = load_item<kBytes>(base + at, is_aligned);
      store_item<kBytes>(to, sums_of<kBytes>(addition, load_item<kBytes>(to, is_aligned), term), is_aligned);
      continue;
    }
    Item<kBytes> sum{};
    if (base != nullptr) sum = load_item<kBytes>(base + at, is_aligned);
    const std::int64_t number = segments.number(segment), offset = to - table.dst - table.begin[number];
    for (std::int64_t t = table.first_term[number]; t < table.first_term[number + 1]; ++t) {
      sum = sums_of<kBytes>(addition, sum, load_item<kBytes>(table.terms[t] + offset, is_aligned));
    }
    store_item<kBytes>(to, sum, is_aligned);
  }
}

}  // namespace

cudaError_t add_segments(const SegmentTable& table, std::int64_t tiles, const Addition& addition, int width,
                         bool is_aligned, SegmentSums sums, cudaStream_t stream) {
  const auto blocks = static_cast<unsigned>(tiles);
  return visit_width(width, [&]<int kBytes>() {
    return launch_grid(add_kernel<kBytes>, blocks, kSegmentThreads, stream, table, addition, is_aligned, sums);
  });
}

}  // namespace backslice::cuda
