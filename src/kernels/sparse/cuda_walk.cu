// Walking both lists, where the rows in a box are not the slice's.
#include "kernels/cuda/launch.h"
#include "kernels/sparse/cuda_found.h"
#include "kernels/sparse/device_walk.h"

namespace backslice::cuda {
namespace {

template <class Read>
__global__ void __launch_bounds__(kWalkThreads)
    walk_kernel(const __grid_constant__ Lists lists, const __grid_constant__ Found found, std::int64_t parts) {
  if (found.header->has_parted == 0) return;
  __shared__ Walk walk;
  for (std::int64_t part = blockIdx.x; part < parts; part += gridDim.x) walk_from_guess<Read>(lists, found, part, walk);
}

template <class Read>
__global__ void __launch_bounds__(kWalkThreads)
    mend_kernel(const __grid_constant__ Lists lists, const __grid_constant__ Found found, std::int64_t parts) {
  if (found.header->has_parted == 0) return;
  __shared__ Walk walk;
  mend_parts<Read>(lists, found, parts, walk);
}

}  // namespace

cudaError_t walk_if_parted(const Found& found, const Lists& lists, cudaStream_t stream) {
  const std::int64_t parts = Found::parts_of(lists.input.rows);
  if (parts == 0) return cudaSuccess;
  constexpr std::int64_t kMostBlocks = kMultiprocessors * 6;  // few, since mostly they have nothing to do
  const auto blocks = static_cast<unsigned>(parts < kMostBlocks ? parts : kMostBlocks);
  return visit_reads(lists.kind, [&]<class Read>() {
    if (const cudaError_t failed = launch_grid(walk_kernel<Read>, blocks, kWalkThreads, stream, lists, found, parts)) {
      return failed;
    }
    return launch_grid(mend_kernel<Read>, 1, kWalkThreads, stream, lists, found, parts);
  });
}

}  // namespace backslice::cuda
