#include <algorithm>

#include "kernels/cpu/addition.h"
#include "kernels/cpu/writer.h"
#include "kernels/slice/reference.h"
#include "kernels/sparse/kernel.h"
#include "kernels/sparse/row_copier.h"

namespace backslice {
namespace {

// Leaves out what lies past the row `end` of the slice. A matcher reads indices that somebody else owns and may have
// changed since their rows were counted.
RowRuns clipped(RowRuns runs, std::int64_t end, RunBuffer& buffer) {
  std::size_t kept = 0;
  for (const RowRun& run : runs) {
    const std::int64_t count = std::min(run.count, end - run.slice_row);
    if (count > 0) buffer[kept++] = {run.row, run.slice_row, count};
  }
  return {buffer.data(), kept};
}

// Calls body(rows of the block, runs in it) for block after block.
template <class Body>
std::int64_t for_each_block(const Matcher& matcher, Range rows, Range slice_rows, std::int64_t block_rows,
                            const Body& body) {
  RunBuffer buffer;
  std::int64_t next = slice_rows.lo;
  for (std::int64_t lo = rows.lo; lo < rows.hi; lo += block_rows) {
    const Range block{lo, std::min(lo + block_rows, rows.hi)};
    RowRuns runs = matcher.match(block, next, buffer);
    if (next > slice_rows.hi) {
      runs = clipped(runs, slice_rows.hi, buffer);
      next = slice_rows.hi;
    }
    body(block, runs);
  }
  return next;
}

template <class Body>
std::int64_t for_each_run(const Matcher& matcher, Range rows, Range slice_rows, const Body& body) {
  return for_each_block(matcher, rows, slice_rows, kBlockRows, [&](Range, RowRuns runs) {
    for (const RowRun& run : runs) body(run);
  });
}

// Both sides dense: blocks are composed in the cache, zeros first, and written once.
template <class Writer>
std::int64_t write_dense(const Matcher& matcher, Range rows, Range slice_rows, const RowCopier& copier,
                         const RowKernels& kernels) {
  const std::int64_t row_bytes = copier.dense_row();
  Writer writer(copier.dst() + rows.lo * row_bytes, kernels);
  const std::int64_t block_rows = std::min(kBlockRows, kMaxReserve / row_bytes);
  const auto grad = [&](const RowRun& run) { return copier.src() + run.slice_row * row_bytes; };
  std::int64_t next = 0;
  if (block_rows > 0) {
    next = for_each_block(matcher, rows, slice_rows, block_rows, [&](Range block, RowRuns runs) {
      const std::int64_t bytes = (block.hi - block.lo) * row_bytes;
      if (runs.empty()) return writer.zero(bytes);
      if (runs[0].count == block.hi - block.lo) return writer.copy(grad(runs[0]), bytes);
      std::byte* to = writer.reserve(bytes);
      kernels.zero(to, bytes);
      for (const RowRun& run : runs) {
        RowCopier::copy_run(to + (run.row - block.lo) * row_bytes, grad(run), run.count * row_bytes);
      }
      writer.commit(bytes);
    });
  } else {  // rows longer than a block
    std::int64_t written = rows.lo;
    next = for_each_run(matcher, rows, slice_rows, [&](const RowRun& run) {
      writer.zero((run.row - written) * row_bytes);
      writer.copy(grad(run), run.count * row_bytes);
      written = run.row + run.count;
    });
    writer.zero((rows.hi - written) * row_bytes);
  }
  writer.finish();
  return next;
}

// Writes zeros to the rows [lo, hi).
void zero_rows(const View& out, std::int64_t lo, std::int64_t hi) {
  if (lo == hi || out.elements() == 0) return;
  View part = out;
  part.data += lo * out.layout.strides[0];
  Dims extents(out.shape());
  extents[0] = hi - lo;
  part.layout.shape = *Shape::make(extents);
  reference::overwrite(plan_zero(part.layout, Widen::No), out.dtype, part.data, part.data);
}

}  // namespace

std::int64_t write_gradient(const Matcher& matcher, Range rows, Range slice_rows, const ConstView& grad,
                            const View& out, const KernelContext& context) {
  if (rows.lo == rows.hi) return slice_rows.lo;
  const RowCopier copier(out, grad);
  if (copier.dense_row() > 0) {
    const auto write = context.stores == Stores::Streaming ? write_dense<StreamWriter> : write_dense<DirectWriter>;
    return write(matcher, rows, slice_rows, copier, context.rows);
  }
  std::int64_t written = rows.lo;
  const std::int64_t next = for_each_run(matcher, rows, slice_rows, [&](const RowRun& run) {
    zero_rows(out, written, run.row);
    copier.copy(run.row, run.slice_row, run.count);
    written = run.row + run.count;
  });
  zero_rows(out, written, rows.hi);
  return next;
}

void write_taken(const Matcher& matcher, Range rows, Range slice_rows, const ConstView& grad, const View& out) {
  if (rows.lo == rows.hi || out.elements() == 0) return;
  const RowCopier copier(out, grad);
  for_each_run(matcher, rows, slice_rows, [&](const RowRun& run) { copier.copy(run.row, run.slice_row, run.count); });
}

void add_gradient(const Matcher& matcher, Range rows, Range slice_rows, const ConstView& grad, const View& out,
                  const KernelContext& context) {
  if (rows.lo == rows.hi || out.elements() == 0) return;
  const Layout out_row = row_layout(out.layout), grad_row = row_layout(grad.layout);
  const Plan plan = plan_copy(out_row, grad_row, Widen::No), wide = plan_copy(out_row, grad_row, Widen::Yes);
  const bool dense = wide.loops().empty();  // a row is one run on both sides
  const AddRow add = addition_of(out.dtype, context.rows);
  const std::int64_t out_stride = out.layout.strides[0], grad_stride = grad.layout.strides[0];
  for_each_run(matcher, rows, slice_rows, [&](const RowRun& run) {
    std::byte* to = out.data + run.row * out_stride;
    const std::byte* from = grad.data + run.slice_row * grad_stride;
    for (std::int64_t i = 0; i < run.count; ++i, to += out_stride, from += grad_stride) {
      dense ? add(to + wide.dst_offset(), from + wide.src_offset(), out_row.shape.elements())
            : reference::accumulate(plan, out.dtype, to, from);
    }
  });
}

namespace {

// One column of a run of indices, with start subtracted. Unsigned, so that nothing overflows.
template <class Index>
void shift_column(const CooIndices::Column& column, const RowRun& run, std::int64_t start, std::byte* to,
                  std::int64_t to_stride) {
  const std::byte* from = column.data + run.row * column.stride;
  for (std::int64_t i = 0; i < run.count; ++i, from += column.stride, to += to_stride) {
    Index index;
    std::memcpy(&index, from, sizeof(Index));
    index -= static_cast<Index>(start);
    std::memcpy(to, &index, sizeof(Index));
  }
}

}  // namespace

void write_slice(const Matcher& matcher, Range rows, Range slice_rows, const CooIndices& indices, Ints start,
                 const ConstView& values, const View& out_indices, const View& out_values) {
  if (rows.lo == rows.hi) return;
  const RowCopier copier(out_values, values);
  const std::int64_t row_stride = out_indices.layout.strides[0];
  const auto shift = indices.dtype() == DType::Int32 ? shift_column<std::uint32_t> : shift_column<std::uint64_t>;
  const std::int64_t next = for_each_run(matcher, rows, slice_rows, [&](const RowRun& run) {
    for (int axis = 0; axis < indices.rank(); ++axis) {
      shift(indices.column(axis), run, start[static_cast<std::size_t>(axis)],
            out_indices.data + run.slice_row * row_stride + axis * out_indices.layout.strides[1], row_stride);
    }
    copier.copy(run.slice_row, run.row, run.count);
  });
  // Rows that were counted and are no longer found must not show what the memory held before.
  zero_rows(out_indices, next, slice_rows.hi);
  zero_rows(out_values, next, slice_rows.hi);
}

}  // namespace backslice
