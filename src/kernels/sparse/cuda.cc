#include <algorithm>
#include <limits>

#include "core/errors.h"
#include "kernels/cpu/kernel_context.h"
#include "kernels/cuda/runtime.h"
#include "kernels/sparse/cuda_kernels.h"
#include "kernels/sparse/device_move.h"
#include "kernels/sparse/kernel.h"

namespace backslice::cuda {
namespace {

Found found_at(const Buffer& memory, const Buffer& joined, std::int64_t rows) {
  Found found = Found::at(memory.data(), rows);
  found.joined = reinterpret_cast<std::int32_t*>(joined.data());
  return found;
}

FoundHeader header_of(const Found& found, DeviceStream queue) {
  FoundHeader header;
  copy_to_host(&header, found.header, sizeof(header), queue);
  return header;
}

void finish(const Found& found, std::int64_t expected, std::int64_t slice_rows, DeviceStatus* status,
            DeviceStream queue) {
  check(finish_finding(found, expected, slice_rows, status, queue.stream), "the kernel that checks sparse rows",
        queue.ordinal);
}

// The box of the slice's rows, and the input rows in it.
void find_in_slice_box(const Found& found, const Lists& lists, DeviceStream queue) {
  check(begin_finding(found, nullptr, queue.stream), "begin_finding", queue.ordinal);
  check(bound(found, lists, queue.stream), "the kernel that bounds sparse rows", queue.ordinal);
  check(find_in_box(found, lists, true, queue.stream), "the kernel that finds sparse rows", queue.ordinal);
}

// Memory for sorting one list.
class SortMemory {
 public:
  SortMemory(std::int64_t count, Allocator& allocator)
      : rows_(allocate_scratch<std::uint32_t>(2 * count, allocator)),
        keys_(allocate_scratch<std::uint64_t>(2 * count, allocator)) {
    auto* rows = reinterpret_cast<std::uint32_t*>(rows_.data());
    auto* keys = reinterpret_cast<std::uint64_t*>(keys_.data());
    sorted = {count, rows, rows + count, keys, keys + count};
  }
  SortedRows sorted;

 private:
  Buffer rows_, keys_;
};

// Sorts and joins the rows of both lists. Input rows outside the box are skipped.
void join_by_sorting(const Found& found, const Lists& lists, const FoundHeader& header, const KernelContext& context) {
  const auto run = [&](cudaError_t error) { check(error, "sorting sparse rows", context.queue.ordinal); };
  const cudaStream_t stream = context.queue.stream;
  SortMemory input(header.found, context.allocator), output(lists.output.rows, context.allocator);
  const std::vector<KeyColumns> steps = key_columns(header.box, lists.input.rank);
  std::size_t bytes = 0;
  run(sort_bytes(std::max(input.sorted.count, output.sorted.count), bytes));
  const Buffer scratch = allocate_scratch<std::byte>(static_cast<std::int64_t>(bytes), context.allocator);
  Found words = found;
  words.joined = nullptr;
  run(list_found_rows(words, lists.input.rows, input.sorted.rows, stream));
  run(list_all_rows(lists.output.rows, output.sorted.rows, stream));
  const auto sort = [&](SortedRows& sorted, const IndexList& list, const PerColumn* start) {
    return sort_rows(sorted, list, lists.kind, start, header.box, steps.data(), static_cast<int>(steps.size()),
                     scratch.data(), bytes, stream);
  };
  run(sort(input.sorted, lists.input, &lists.start));
  run(sort(output.sorted, lists.output, nullptr));
  run(join_sorted(found, lists, input.sorted, output.sorted, steps.size() == 1, stream));
}

}  // namespace

DeviceFound::DeviceFound(std::int64_t rows, std::int64_t slice_rows, const KernelContext& context)
    : memory_(allocate_scratch<std::byte>(Found::bytes(rows), context.allocator)),
      rows_(rows),
      slice_rows_(slice_rows) {}

DeviceFound DeviceFound::in_order(const CooIndices& input, Ints start, const CooIndices& output,
                                  const KernelContext& context, DeviceStatus* status) {
  const DeviceGuard guard(context.queue.ordinal);
  DeviceFound made(input.rows(), output.rows(), context);
  const Found found = found_at(made.memory_, {}, input.rows());
  const Lists lists = lists_of(input, start, output);
  find_in_slice_box(found, lists, context.queue);
  check(walk_if_parted(found, lists, context.queue.stream), "the kernel that walks sparse rows", context.queue.ordinal);
  finish(found, output.rows(), output.rows(), status, context.queue);
  return made;
}

DeviceFound DeviceFound::in_any_order(const CooIndices& input, Ints start, const CooIndices& output,
                                      const KernelContext& context, DeviceStatus* status) {
  const DeviceGuard guard(context.queue.ordinal);
  DeviceFound made(input.rows(), output.rows(), context);
  Found found = found_at(made.memory_, {}, input.rows());
  const Lists lists = lists_of(input, start, output);
  find_in_slice_box(found, lists, context.queue);
  if (const FoundHeader header = header_of(found, context.queue); header.has_parted != 0) {
    made.joined_ = allocate_scratch<std::int32_t>(input.rows(), context.allocator);
    found = found_at(made.memory_, made.joined_, input.rows());
    check(cudaMemsetAsync(found.joined, 0xff, static_cast<std::size_t>(input.rows()) * sizeof(std::int32_t),
                          context.queue.stream),
          "cudaMemsetAsync", context.queue.ordinal);
    join_by_sorting(found, lists, header, context);
  }
  finish(found, output.rows(), output.rows(), status, context.queue);
  return made;
}

DeviceFound DeviceFound::in_window(const CooIndices& input, Ints start, Ints size, std::int64_t expected,
                                   const KernelContext& context, DeviceStatus* status) {
  const DeviceGuard guard(context.queue.ordinal);
  constexpr std::int64_t kNoEnd = std::numeric_limits<std::int64_t>::max();
  DeviceFound made(input.rows(), expected == kAnyNumber ? kNoEnd : expected, context);
  const Found found = found_at(made.memory_, {}, input.rows());
  IndexBounds box{};
  for (std::size_t axis = 0; axis < size.size(); ++axis) box.high[axis] = size[axis] - 1;
  const Lists lists = lists_of(input, start, input);
  check(begin_finding(found, &box, context.queue.stream), "begin_finding", context.queue.ordinal);
  check(find_in_box(found, lists, false, context.queue.stream), "the kernel that finds sparse rows",
        context.queue.ordinal);
  finish(found, expected, kNoEnd, status, context.queue);
  return made;
}

DeviceStatus DeviceFound::outcome(DeviceStream queue) const {
  const FoundHeader header = header_of(Found::at(memory_.data(), rows_), queue);
  return {header.is_refused, header.used, header.expected};
}

namespace {

void move(const View& to, const ConstView& from, const Found& found, SliceRows rows, Moves moves, DeviceStream queue) {
  check(move_rows(row_move(to, from), found, rows, moves, queue.stream), "the kernel that moves sparse rows",
        queue.ordinal);
}

}  // namespace

void DeviceFound::write_gradient(const ConstView& grad, const View& out, Write write, DeviceStream queue) const {
  const DeviceGuard guard(queue.ordinal);
  const Found found = found_at(memory_, joined_, rows_);
  const SliceRows rows{rows_, slice_rows_};
  if (write == Write::Accumulate) {
    const Addition addition = addition_of(out.dtype);
    check(add_rows(row_move(out, grad, addition.width), found, rows, addition, queue.stream),
          "the kernel that adds sparse rows", queue.ordinal);
    return;
  }
  move(out, grad, found, rows, write == Write::Overwrite ? Moves::RowsAndZeros : Moves::RowsOnly, queue);
}

void DeviceFound::write_slice(const CooIndices& indices, Ints start, const ConstView& values, const View& out_indices,
                              const View& out_values, DeviceStream queue) const {
  const DeviceGuard guard(queue.ordinal);
  const Found found = found_at(memory_, joined_, rows_);
  const SliceRows rows{rows_, out_values.shape()[0]};
  const IndexMatrix to{out_indices.data, out_indices.layout.strides[0], out_indices.layout.strides[1]};
  check(write_indices(lists_of(indices, start, indices), found, rows, to, queue.stream),
        "the kernel that writes sparse indices", queue.ordinal);
  move(out_values, values, found, rows, Moves::ToSlice, queue);
}

}  // namespace backslice::cuda
