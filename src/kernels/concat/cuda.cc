#include <algorithm>

#include "kernels/concat/cuda_kernels.h"
#include "kernels/concat/kernel.h"
#include "kernels/concat/segment_list.h"
#include "kernels/cpu/kernel_context.h"
#include "kernels/cuda/memory.h"
#include "kernels/cuda/runtime.h"

namespace backslice::cuda {
namespace {

// One segment needs no table. The list joins segments that are adjacent in memory, but cudaMemcpyAsync cannot cross
// from one allocation into the next, unlike a kernel.
bool is_plain(std::span<const Segment> segments, const SegmentList& list, Write write) {
  if (list.count() != 1 || list.adds() || write == Write::Accumulate) return false;
  const auto has_bytes = [](const Segment& segment) { return segment.bytes > 0; };
  return list.source(0) == nullptr || std::count_if(segments.begin(), segments.end(), has_bytes) == 1;
}

void write_plain(std::byte* dst, const SegmentList& list, Write write, DeviceStream queue) {
  const auto bytes = static_cast<std::size_t>(list.bytes());
  if (const std::byte* source = list.source(0)) {
    check(cudaMemcpyAsync(dst, source, bytes, cudaMemcpyDeviceToDevice, queue.stream), "cudaMemcpyAsync",
          queue.ordinal);
  } else if (write == Write::Overwrite) {
    zero(dst, list.bytes(), queue);
  }
}

// Tables of up to some thousand segments are arguments of kernels, so they can be captured into a graph; longer ones
// are copied.
Buffer upload(const std::vector<std::int64_t>& packed, const KernelContext& context) {
  constexpr std::size_t kMostItems = (1 << 20) / sizeof(std::int64_t);
  if (packed.size() <= kMostItems) {
    Tables tables;
    tables.append(packed);
    return tables.upload(context.allocator, context.queue);
  }
  refuse_capture("the table of so many pieces is copied from memory that is gone when the graph runs", context.queue);
  const auto items = static_cast<std::int64_t>(packed.size());
  Buffer copy = allocate_scratch<std::int64_t>(items, context.allocator);
  copy_to_device(copy.data(), packed.data(), items * static_cast<std::int64_t>(sizeof(std::int64_t)), context.queue);
  return copy;
}

}  // namespace

void concat(std::byte* dst, std::span<const Segment> segments, DType dtype, const KernelContext& context,
            std::span<const Sum> sums, Write write) {
  const SegmentList list(dst, segments, sums);
  if (list.bytes() == 0) return;
  const DeviceStream queue = context.queue;
  const DeviceGuard guard(queue.ordinal);
  if (is_plain(segments, list, write)) return write_plain(dst, list, write, queue);
  const Buffer copy = upload(list.packed(), context);
  const SegmentTable table = list.table(dst, copy.data());
  if (!list.adds() && write != Write::Accumulate) {
    const bool writes_zeros = write == Write::Overwrite;
    return check(copy_segments(table, list.tiles(), list.copied_at_once(), writes_zeros, queue.stream),
                 "the kernel that joins segments", queue.ordinal);
  }
  const Addition addition = addition_of(dtype);
  const int width = list.added_at_once(addition.width);
  const SegmentSums kind = write == Write::Accumulate ? SegmentSums::AddTo : SegmentSums::Write;
  check(add_segments(table, list.tiles(), addition, width, kind, queue.stream), "the kernel that adds segments",
        queue.ordinal);
}

}  // namespace backslice::cuda
