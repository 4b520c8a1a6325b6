#include "kernels/cpu/addition.h"
#include "kernels/cpu/writer.h"
#include "kernels/slice/kernel.h"
#include "kernels/slice/reference.h"
#include "plan/split.h"

namespace backslice {
namespace {

using Loops = std::span<const Loop>;

// Whether the items that a loop takes lie one after the other on both sides.
bool is_run(const Loop& loop, std::int64_t item_size) {
  return loop.step == 1 && loop.count > 0 && (loop.src_stride == item_size || loop.count == 1);
}

// Emits the loops of a dense destination to a writer, in the order of memory.
template <class Writer>
class Emitter {
 public:
  Emitter(Writer& writer, const RowKernels& rows, std::int64_t item_size)
      : writer_(writer), rows_(rows), item_size_(item_size), width_(width_index(item_size)) {
    if (width_ >= 0) spread_ = rows.spread[width_];
  }

  void emit(Loops loops, const std::byte* src) {
    if (loops.empty()) return writer_.copy(src, item_size_);
    const Loop& loop = loops[0];
    if (loop.count == 0) return writer_.zero(loop.extent * loop.dst_stride);
    writer_.zero(loop.start * loop.dst_stride);
    if (loops.size() == 1) {
      row(loop, src);
    } else if (loops.size() == 2 && is_short_run(loops[1]) && loop.step == 1) {
      short_rows(loop, loops[1], src);
    } else {
      for (std::int64_t i = 0; i < loop.count; ++i) {
        if (i > 0) writer_.zero((loop.step - 1) * loop.dst_stride);
        emit(loops.subspan(1), src + i * loop.src_stride);
      }
    }
    const std::int64_t last = loop.start + (loop.count - 1) * loop.step;
    writer_.zero((loop.extent - 1 - last) * loop.dst_stride);
  }

 private:
  // The taken items of one loop and the gaps between them.
  void row(const Loop& loop, const std::byte* src) {
    if (loop.step == 1 && loop.src_stride == item_size_) return writer_.copy(src, loop.count * item_size_);
    if (spread_ == nullptr) {
      for (std::int64_t i = 0; i < loop.count; ++i) {
        if (i > 0) writer_.zero((loop.step - 1) * item_size_);
        writer_.copy(src + i * loop.src_stride, item_size_);
      }
      return;
    }
    if (writer_.spread(src, loop.count, loop.step, loop.src_stride, width_)) return;
    const std::int64_t most = std::max<std::int64_t>(1, kMaxReserve / (loop.step * item_size_));
    for (std::int64_t i = 0; i < loop.count;) {
      const std::int64_t now = std::min(most, loop.count - i);
      const std::int64_t bytes = ((now - 1) * loop.step + 1) * item_size_;
      spread_(writer_.reserve(bytes), src + i * loop.src_stride, now, loop.step, loop.src_stride);
      writer_.commit(bytes);
      i += now;
      if (i < loop.count) writer_.zero((loop.step - 1) * item_size_);
    }
  }

  // Rows so short that a call each would cost more than the bytes.
  bool is_short_run(const Loop& loop) const {
    return loop.extent * item_size_ <= Writer::kShortRow && is_run(loop, item_size_);
  }

  void short_rows(const Loop& outer, const Loop& inner, const std::byte* src) {
    ShortRows rows{.rows = outer.count,
                   .row_bytes = inner.extent * item_size_,
                   .run_start = inner.start * item_size_,
                   .run_bytes = inner.count * item_size_,
                   .src_stride = outer.src_stride};
    if (writer_.short_rows(src, rows)) return;
    const std::int64_t most = kMaxReserve / rows.row_bytes;
    for (std::int64_t i = 0; i < outer.count; i += rows.rows) {
      rows.rows = std::min(most, outer.count - i);
      const std::int64_t bytes = rows.rows * rows.row_bytes;
      rows_.short_rows(writer_.reserve(bytes), src + i * outer.src_stride, rows);
      writer_.commit(bytes);
    }
  }

  Writer& writer_;
  const RowKernels& rows_;
  std::int64_t item_size_;
  int width_;                   // of the items in the tables of row kernels, or -1
  SpreadRow spread_ = nullptr;  // null for items of other widths
};

// The first loop from which on the destination has no gaps.
std::size_t first_dense_loop(Loops loops, std::int64_t item_size) {
  std::int64_t expected = item_size;
  std::size_t first = loops.size();
  while (first > 0 && loops[first - 1].dst_stride == expected) {
    --first;
    expected *= loops[first].extent;
  }
  return first;
}

template <class Writer>
void fill_dense(Loops loops, std::int64_t item_size, std::byte* dst, const std::byte* src, bool taken,
                const RowKernels& rows) {
  Writer writer(dst, rows);
  if (taken) {
    Emitter<Writer>(writer, rows, item_size).emit(loops, src);
  } else {
    writer.zero(loops.empty() ? item_size : loops[0].extent * loops[0].dst_stride);
  }
  writer.finish();
}

// Walks the loops with gaps between their positions, down to the dense ones.
template <class Writer>
void fill_boxes(Loops outer, Loops dense, std::int64_t item_size, std::byte* dst, const std::byte* src, bool taken,
                const RowKernels& rows) {
  if (outer.empty()) return fill_dense<Writer>(dense, item_size, dst, src, taken, rows);
  const Loop& loop = outer[0];
  std::int64_t next = 0;
  for (std::int64_t i = 0; i < loop.extent; ++i) {
    const bool here = taken && next < loop.count && i == loop.start + next * loop.step;
    fill_boxes<Writer>(outer.subspan(1), dense, item_size, dst + i * loop.dst_stride,
                       here ? src + next * loop.src_stride : src, here, rows);
    next += here;
  }
}

void fill_piece(const Plan& plan, std::byte* dst, const std::byte* src, const RowKernels& rows, Stores stores) {
  const Loops loops = plan.loops();
  const std::size_t first = first_dense_loop(loops, plan.item_size());
  const Loops outer = loops.subspan(0, first), dense = loops.subspan(first);
  dst += plan.dst_offset();
  src += plan.src_offset();
  if (stores == Stores::Streaming) {
    fill_boxes<StreamWriter>(outer, dense, plan.item_size(), dst, src, true, rows);
  } else {
    fill_boxes<DirectWriter>(outer, dense, plan.item_size(), dst, src, true, rows);
  }
}

void add_rows(Loops loops, AddRow add_row, std::byte* dst, const std::byte* src) {
  if (loops.size() == 1) return add_row(dst, src, loops[0].extent);
  for (std::int64_t i = 0; i < loops[0].extent; ++i) {
    add_rows(loops.subspan(1), add_row, dst + i * loops[0].dst_stride, src + i * loops[0].src_stride);
  }
}

template <class Body>
void for_each_piece(const Plan& plan, const KernelContext& context, const Body& body) {
  if (context.pieces == 1) return body(plan);
  const std::vector<Plan> parts = split(plan, context.pieces);
  context.tasks.run(static_cast<std::int64_t>(parts.size()),
                    [&](std::int64_t i) { body(parts[static_cast<std::size_t>(i)]); });
}

}  // namespace

std::optional<SmallFill> small_fill(const Plan& plan) {
  const Loops loops = plan.loops();
  const std::int64_t size = plan.item_size();
  if (plan.is_empty() || plan.dst_offset() != 0 || loops.empty() || loops.size() > 2) return std::nullopt;
  if (first_dense_loop(loops, size) > 0) return std::nullopt;
  const Loop outer = loops.size() == 2 ? loops[0] : Loop{}, &inner = loops.back();
  const std::int64_t row_bytes = inner.extent * size;
  if (outer.step != 1 || outer.count == 0 || !is_run(inner, size)) return std::nullopt;
  if (row_bytes > kMaxReserve || outer.extent > kMaxReserve / row_bytes) return std::nullopt;
  return SmallFill{.src_offset = plan.src_offset(),
                   .before = outer.start * row_bytes,
                   .after = (outer.extent - outer.start - outer.count) * row_bytes,
                   .rows = {.rows = outer.count,
                            .row_bytes = row_bytes,
                            .run_start = inner.start * size,
                            .run_bytes = inner.count * size,
                            .src_stride = outer.src_stride}};
}

void fill_small(const SmallFill& small, std::byte* dst, const std::byte* src, const RowKernels& rows) {
  if (small.before > 0) rows.zero(dst, small.before);
  dst += small.before;
  rows.short_rows(dst, src + small.src_offset, small.rows);
  if (small.after > 0) rows.zero(dst + small.rows.rows * small.rows.row_bytes, small.after);
}

void fill(const Plan& plan, DType dtype, std::byte* dst, const std::byte* src, const KernelContext& context) {
  if (!are_bytes(dtype)) return reference::overwrite(plan, dtype, dst, src);
  if (plan.is_empty()) return;
  for_each_piece(plan, context, [&](const Plan& piece) { fill_piece(piece, dst, src, context.rows, context.stores); });
}

void add(const Plan& plan, DType dtype, std::byte* dst, const std::byte* src, const KernelContext& context) {
  if (plan.is_empty()) return;
  const AddRow add_row = addition_of(dtype, context.rows);
  for_each_piece(plan, context, [&](const Plan& piece) {
    const Loops loops = piece.loops();
    const bool dense_rows =
        !loops.empty() && loops.back().dst_stride == piece.item_size() && loops.back().src_stride == piece.item_size();
    if (!dense_rows) return reference::accumulate(piece, dtype, dst, src);
    add_rows(loops, add_row, dst + piece.dst_offset(), src + piece.src_offset());
  });
}

}  // namespace backslice
