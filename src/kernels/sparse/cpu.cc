#include <algorithm>
#include <cstring>

#include "core/items.h"
#include "core/row_layout.h"
#include "core/tuning.h"
#include "kernels/cpu/rows.h"
#include "kernels/cpu/writer.h"
#include "kernels/slice/kernel.h"
#include "kernels/sparse/kernel.h"
#include "plan/plan.h"

namespace backslice {
namespace {

// Moves runs of rows from one list of values to another, of any strides.
class RowCopier {
 public:
  RowCopier(const View& dst, const ConstView& src)
      : dst_(dst), src_(src), row_(plan_copy(row_layout(dst.layout), row_layout(src.layout), widen_for(src.dtype))) {
    // Whether a row is one run of bytes on both sides. The run may begin at the row's last element, if rows are
    // reversed.
    one_run_ = row_.loops().empty() && are_bytes(src.dtype);
    if (one_run_) {
      dst_.data += row_.dst_offset();
      src_.data += row_.src_offset();
    }
  }

  // The beginning of row 0's run. Precondition: dense_row() > 0.
  std::byte* dst() const { return dst_.data; }
  const std::byte* src() const { return src_.data; }

  // Returns the size of a row if rows are adjacent on both sides, else 0.
  std::int64_t dense_row() const {
    const std::int64_t size = row_.item_size();
    return one_run_ && dst_stride() == size && src_stride() == size ? size : 0;
  }

  void copy(std::int64_t dst_row, std::int64_t src_row, std::int64_t count) const {
    if (row_.is_empty()) return;  // there may be no memory
    std::byte* to = dst_.data + dst_row * dst_stride();
    const std::byte* from = src_.data + src_row * src_stride();
    if (dense_row() > 0) return copy_run(to, from, count * dense_row());
    for (std::int64_t i = 0; i < count; ++i, to += dst_stride(), from += src_stride()) {
      one_run_ ? copy_bytes(to, from, row_.item_size()) : reference::overwrite(row_, src_.dtype, to, from);
    }
  }

  // Copies short runs without a call.
  static void copy_run(std::byte* to, const std::byte* from, std::int64_t bytes) {
    if (bytes == 4) {
      std::memcpy(to, from, 4);
    } else if (bytes == 8) {
      std::memcpy(to, from, 8);
    } else {
      copy_bytes(to, from, bytes);
    }
  }

  std::int64_t dst_stride() const { return dst_.layout.strides[0]; }
  std::int64_t src_stride() const { return src_.layout.strides[0]; }

 private:
  View dst_;
  ConstView src_;
  Plan row_;
  bool one_run_;
};

// Calls body(rows of the block, found rows) for block after block. The indices belong to someone else, and may have
// changed since their rows were counted: rows past the end are ignored.
template <class Body>
std::int64_t for_each_block(const Matcher& matcher, Range rows, Range slice_rows, std::int64_t block_rows,
                            const Body& body) {
  FoundRows found;
  MatchCursor cursor{slice_rows.lo};
  for (std::int64_t lo = rows.lo; lo < rows.hi; lo += block_rows) {
    const Range block{lo, std::min(lo + block_rows, rows.hi)};
    const std::int64_t left = slice_rows.hi - cursor.next;
    matcher.match(block, cursor, found);
    if (cursor.next > slice_rows.hi) {
      found.keep_first(left);
      cursor.next = slice_rows.hi;
    }
    body(block, found);
  }
  return cursor.next;
}

// Moves a run: rows row, row + 1, ... of the input are rows slice_row, slice_row + 1, ... of the slice.
struct RowRun {
  std::int64_t row, slice_row, count;
};

template <class Body>
std::int64_t for_each_run(const Matcher& matcher, Range rows, Range slice_rows, const Body& body) {
  RowRun run{0, 0, 0};
  const auto extend = [&](const RowRun& by) {
    if (by.row == run.row + run.count && by.slice_row == run.slice_row + run.count) return void(run.count += by.count);
    if (run.count > 0) body(run);
    run = by;
  };
  const std::int64_t next =
      for_each_block(matcher, rows, slice_rows, kBlockRows, [&](Range block, const FoundRows& found) {
        if (found.follow_each_other()) {
          found.for_each_run([&](std::int64_t row, std::int64_t i, std::int64_t count) {
            extend({block.lo + row, found.slice_row(row, i), count});
          });
        } else {
          found.for_each(
              [&](std::int64_t row, std::int64_t i) { extend({block.lo + row, found.slice_row(row, i), 1}); });
        }
      });
  if (run.count > 0) body(run);
  return next;
}

// to[row] = from[its row in the slice] for rows of kBytes bytes, a compile-time constant or any size.
template <std::int64_t kBytes>
void scatter(std::byte* to, const std::byte* from, const FoundRows& found, std::int64_t bytes) {
  const std::int64_t size = kBytes > 0 ? kBytes : bytes;
  if (found.follow_each_other() && found.count() > kTuning.copied_rows * found.runs()) {
    found.for_each_run([&](std::int64_t row, std::int64_t i, std::int64_t count) {
      copy_bytes(to + row * size, from + found.slice_row(row, i) * size, count * size);
    });
  } else {
    found.for_each([&](std::int64_t row, std::int64_t i) {
      copy_bytes(to + row * size, from + found.slice_row(row, i) * size, size);
    });
  }
}

using Scatter = void (*)(std::byte* to, const std::byte* from, const FoundRows& found, std::int64_t bytes);

Scatter scatter_of(std::int64_t row_bytes) {
  switch (row_bytes) {
    case 1: return scatter<1>;
    case 2: return scatter<2>;
    case 4: return scatter<4>;
    case 8: return scatter<8>;
    case 16: return scatter<16>;
    default: return scatter<0>;
  }
}

// Moves rows that are dense on both sides: blocks are composed in the cache, zeros first, and written once.
template <class Writer>
std::int64_t write_dense(const Matcher& matcher, Range rows, Range slice_rows, const RowCopier& copier,
                         const RowKernels& kernels) {
  const std::int64_t row_bytes = copier.dense_row();
  Writer writer(copier.dst() + rows.lo * row_bytes, kernels);
  const std::int64_t block_rows = std::min(kBlockRows, kMaxReserve / row_bytes);
  const Scatter scatter = scatter_of(row_bytes);
  const int width = width_index(row_bytes);
  const ExpandRow expand = width < 0 ? nullptr : kernels.expand[width];
  std::int64_t next = 0;
  if (block_rows > 0) {
    next = for_each_block(matcher, rows, slice_rows, block_rows, [&](Range block, const FoundRows& found) {
      const std::int64_t block_bytes = (block.hi - block.lo) * row_bytes;
      const std::int64_t count = found.count();
      if (count == 0) return writer.zero(block_bytes);
      if (count == block.hi - block.lo && found.follow_each_other()) {
        return writer.copy(copier.src() + found.slice_row(0, 0) * row_bytes, block_bytes);
      }
      std::byte* to = writer.reserve(block_bytes);
      if (expand != nullptr && found.follow_each_other()) {
        const std::int64_t first = found.slice_row(0, 0);
        expand(to, copier.src() + first * row_bytes, slice_rows.hi - first, found.words(), block.hi - block.lo);
      } else {
        kernels.zero(to, block_bytes);
        scatter(to, copier.src(), found, row_bytes);
      }
      writer.commit(block_bytes);
    });
  } else {  // rows longer than a block
    std::int64_t written = rows.lo;
    next = for_each_run(matcher, rows, slice_rows, [&](const RowRun& run) {
      writer.zero((run.row - written) * row_bytes);
      writer.copy(copier.src() + run.slice_row * row_bytes, run.count * row_bytes);
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

// Writes one column of a run of indices, minus start. Unsigned, so that nothing overflows.
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
  // Rows that were counted and are no longer found must not expose old contents of the memory.
  zero_rows(out_indices, next, slice_rows.hi);
  zero_rows(out_values, next, slice_rows.hi);
}

}  // namespace backslice
