// CUB includes <iostream> without using it. Its static object would need this compiler's C++ library, but the linker
// may use another one.
#include <ostream>
#define _GLIBCXX_IOSTREAM 1
#define CCCL_DISABLE_NVTX
#include <cub/device/device_radix_sort.cuh>

#include "kernels/cuda/launch.h"
#include "kernels/sparse/cuda_kernels.h"

namespace backslice::cuda {
namespace {

constexpr int kThreads = 256;

unsigned blocks_for(std::int64_t items) { return static_cast<unsigned>((items + kThreads - 1) / kThreads); }

__device__ std::int64_t my_item() { return std::int64_t{blockIdx.x} * kThreads + threadIdx.x; }

__global__ void found_rows_kernel(const __grid_constant__ Found found, std::int64_t rows, std::uint32_t* to) {
  const std::int64_t row = my_item();
  if (row >= rows) return;
  const std::int64_t at = found.slice_row(row);
  if (at != kNoSliceRow) to[at] = static_cast<std::uint32_t>(row);
}

__global__ void all_rows_kernel(std::int64_t rows, std::uint32_t* to) {
  const std::int64_t row = my_item();
  if (row < rows) to[row] = static_cast<std::uint32_t>(row);
}

template <class Read>
__global__ void keys_kernel(const __grid_constant__ IndexList list, const __grid_constant__ PerColumn from,
                            const __grid_constant__ KeyColumns columns, std::int64_t count, const std::uint32_t* rows,
                            std::uint64_t* keys) {
  const std::int64_t at = my_item();
  if (at < count) keys[at] = key_of<Read>(list, from, columns, rows[at]);
}

template <class Read>
__global__ void __launch_bounds__(kThreads)
    join_kernel(const __grid_constant__ Found found, const __grid_constant__ Lists lists,
                const __grid_constant__ SortedRows input, const __grid_constant__ SortedRows output,
                bool keys_are_exact) {
  const std::int64_t p = my_item();
  const Order<Read> order{lists, input, output, keys_are_exact};
  bool is_found = false;
  if (p < input.count) {
    const std::int64_t at = order.partner(p);
    is_found = at >= 0;
    if (is_found) found.joined[input.rows[p]] = static_cast<std::int32_t>(output.rows[at]);
  }
  const int count = __syncthreads_count(is_found);
  if (threadIdx.x == 0 && count > 0) {
    atomicAdd(reinterpret_cast<unsigned long long*>(&found.header->used), static_cast<unsigned long long>(count));
  }
}

// CUB throws if CUDA does not report the current device.
template <class Sort>
cudaError_t without_exceptions(const Sort& sort) {
  try {
    return sort();
  } catch (...) {
    const cudaError_t error = cudaPeekAtLastError();
    return error != cudaSuccess ? error : cudaErrorUnknown;
  }
}

}  // namespace

cudaError_t list_found_rows(const Found& found, std::int64_t rows, std::uint32_t* to, cudaStream_t stream) {
  if (rows == 0) return cudaSuccess;
  return launch_grid(found_rows_kernel, blocks_for(rows), kThreads, stream, found, rows, to);
}

cudaError_t list_all_rows(std::int64_t rows, std::uint32_t* to, cudaStream_t stream) {
  if (rows == 0) return cudaSuccess;
  return launch_grid(all_rows_kernel, blocks_for(rows), kThreads, stream, rows, to);
}

cudaError_t sort_bytes(std::int64_t rows, std::size_t& bytes) {
  const std::uint64_t* keys = nullptr;
  const std::uint32_t* values = nullptr;
  return without_exceptions([&] {
    return cub::DeviceRadixSort::SortPairs(nullptr, bytes, keys, const_cast<std::uint64_t*>(keys), values,
                                           const_cast<std::uint32_t*>(values), rows);
  });
}

cudaError_t sort_rows(SortedRows& sorted, const IndexList& list, IndexKind kind, const PerColumn* start,
                      const IndexBounds& box, const KeyColumns* steps, int step_count, void* scratch, std::size_t bytes,
                      cudaStream_t stream) {
  if (sorted.count == 0) return cudaSuccess;
  const PerColumn from = key_origin(start, box);
  for (int i = 0; i < step_count; ++i) {
    const KeyColumns& step = steps[i];
    cudaError_t failed = visit_reads(kind, [&]<class Read>() {
      return launch_grid(keys_kernel<Read>, blocks_for(sorted.count), kThreads, stream, list, from, step, sorted.count,
                         sorted.rows, sorted.keys);
    });
    if (failed != cudaSuccess) return failed;
    if (step.bits == 0) continue;
    failed = without_exceptions([&] {
      return cub::DeviceRadixSort::SortPairs(scratch, bytes, const_cast<const std::uint64_t*>(sorted.keys),
                                             sorted.other_keys, const_cast<const std::uint32_t*>(sorted.rows),
                                             sorted.other_rows, sorted.count, 0, step.bits, stream);
    });
    if (failed != cudaSuccess) return failed;
    std::swap(sorted.keys, sorted.other_keys);
    std::swap(sorted.rows, sorted.other_rows);
  }
  return cudaSuccess;
}

cudaError_t join_sorted(const Found& found, const Lists& lists, const SortedRows& input, const SortedRows& output,
                        bool keys_are_exact, cudaStream_t stream) {
  if (input.count == 0) return cudaSuccess;
  return visit_reads(lists.kind, [&]<class Read>() {
    return launch_grid(join_kernel<Read>, blocks_for(input.count), kThreads, stream, found, lists, input, output,
                       keys_are_exact);
  });
}

}  // namespace backslice::cuda
