#include <algorithm>
#include <optional>

#include "core/items.h"
#include "kernels/cpu/writer.h"
#include "kernels/nest/run_nest.h"
#include "kernels/slice/kernel.h"
#include "kernels/slice/reference.h"
#include "plan/split.h"

namespace backslice {
namespace {

using Loops = std::span<const Loop>;

bool take_all(Loops loops) {
  return std::all_of(loops.begin(), loops.end(), [](const Loop& loop) { return loop.takes_all(); });
}

// Some taken positions of a loop, from the first of them to the last.
Loop taken_part(const Loop& loop, std::int64_t count) {
  return {(count - 1) * loop.step + 1, 0, loop.step, count, loop.dst_stride, loop.src_stride};
}

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

std::int64_t bytes_of(Loops loops, std::int64_t item_size) {
  for (const Loop& loop : loops) item_size *= loop.extent;
  return item_size;
}

// The innermost loops of a plan, from which on a few kilobytes of the destination are zeroed together and written
// again in part: in the L1 cache, both take less time than being careful.
class Box {
 public:
  // `first` stands for the outermost of the loops.
  Box(const Loop& first, Loops loops, std::int64_t item_size, const RowKernels& rows)
      : Box(with_first(first, loops), item_size, rows) {}
  Box(const InlineVector<Loop>& loops, std::int64_t item_size, const RowKernels& rows)
      : moves_({loops.begin(), loops.end()}, item_size, rows), dst_offset_(0) {
    const Loops all{loops.begin(), loops.end()};
    if (!take_all(all)) zeros_.emplace(all, item_size, rows);
    for (const Loop& loop : all) dst_offset_ += loop.start * loop.dst_stride;
  }

  void fill(std::byte* dst, const std::byte* src) const {
    if (zeros_) zeros_->run(dst);
    moves_.run(dst + dst_offset_, src);
  }

 private:
  static InlineVector<Loop> with_first(const Loop& first, Loops loops) {
    InlineVector<Loop> all(loops);
    all[0] = first;
    return all;
  }

  MoveNest moves_;
  std::optional<ZeroNest> zeros_;
  std::int64_t dst_offset_;
};

// The boxes along a loop: runs of taken positions. All but the last are alike.
class Boxes {
 public:
  // At most that many bytes each, or one position.
  Boxes(Loops loops, std::int64_t most_bytes, std::int64_t item_size, const RowKernels& rows)
      : loops_(loops), item_size_(item_size), rows_(rows) {
    const std::int64_t bytes = bytes_of(loops.subspan(1), item_size) * loops[0].step;
    count_ = std::clamp<std::int64_t>(most_bytes / bytes, 1, loops[0].count);
    box_.emplace(taken_part(loops[0], count_), loops, item_size, rows);
  }

  // Calls body(box, number of its first taken position, how many of them).
  template <class Body>
  void for_each(const Body& body) const {
    std::int64_t i = 0;
    for (; i + count_ <= loops_[0].count; i += count_) body(*box_, i, count_);
    const std::int64_t left = loops_[0].count - i;
    if (left > 0) body(Box(taken_part(loops_[0], left), loops_, item_size_, rows_), i, left);
  }

 private:
  Loops loops_;
  std::int64_t item_size_;
  const RowKernels& rows_;
  std::int64_t count_;
  std::optional<Box> box_;
};

// Emits the loops of a dense destination to a writer, in the order of memory.
template <class Writer>
class Emitter {
 public:
  Emitter(Writer& writer, std::int64_t item_size, const RowKernels& rows)
      : writer_(writer), rows_(rows), item_size_(item_size) {}

  void emit(Loops loops, const std::byte* src) {
    if (loops.empty()) return writer_.copy(src, item_size_);
    const Loop& loop = loops[0];
    if (loop.count == 0) return writer_.zero(loop.extent * loop.dst_stride);
    writer_.zero(loop.start * loop.dst_stride);
    taken(loops, src);
    const std::int64_t last = loop.start + (loop.count - 1) * loop.step;
    writer_.zero((loop.extent - 1 - last) * loop.dst_stride);
  }

 private:
  static constexpr std::int64_t kComposed = 1024;  // rows up to this size are composed, several together

  // From the first taken position to the last.
  void taken(Loops loops, const std::byte* src) {
    const Loop& loop = loops[0];
    if (loops.size() == 1 && loop.step == 1 && loop.src_stride == item_size_) {
      return writer_.copy(src, loop.count * item_size_);
    }
    if (loops.size() == 1 && spread(loop, src)) return;
    if (loop.step * loop.dst_stride <= kComposed) return compose(loops, src);
    for (std::int64_t i = 0; i < loop.count; ++i) {
      if (i > 0) writer_.zero((loop.step - 1) * loop.dst_stride);
      emit(loops.subspan(1), src + i * loop.src_stride);
    }
  }

  // Rows with gaps, or reversed, for which there are row kernels that write every byte once.
  bool spread(const Loop& loop, const std::byte* src) {
    const int width = width_index(item_size_);
    const bool is_near = loop.src_stride == item_size_ || loop.src_stride == -item_size_;
    if (width < 0 || width > 3 || loop.step > 4 || !is_near) return false;
    if (writer_.spread(src, loop.count, loop.step, loop.src_stride, width)) return true;
    const std::int64_t most = kMaxReserve / (loop.step * item_size_);
    for (std::int64_t i = 0; i < loop.count;) {
      const std::int64_t now = std::min(most, loop.count - i);
      const std::int64_t bytes = ((now - 1) * loop.step + 1) * item_size_;
      rows_.spread[width](writer_.reserve(bytes), src + i * loop.src_stride, now, loop.step, loop.src_stride);
      writer_.commit(bytes);
      i += now;
      if (i < loop.count) writer_.zero((loop.step - 1) * item_size_);
    }
    return true;
  }

  void compose(Loops loops, const std::byte* src) {
    const Loop& loop = loops[0];
    Boxes(loops, kMaxReserve, item_size_, rows_)
        .for_each([&](const Box& box, std::int64_t first, std::int64_t count) {
          if (first > 0) writer_.zero((loop.step - 1) * loop.dst_stride);
          const std::int64_t bytes = ((count - 1) * loop.step + 1) * loop.dst_stride;
          box.fill(writer_.reserve(bytes), src + first * loop.src_stride);
          writer_.commit(bytes);
        });
  }

  Writer& writer_;
  const RowKernels& rows_;
  std::int64_t item_size_;
};

// Fills a destination of any layout: dense rows by a writer, where they are long, the rest box by box.
class Filler {
 public:
  Filler(Loops loops, std::int64_t item_size, const RowKernels& rows, Stores stores)
      : item_size_(item_size), rows_(rows), stores_(stores) {
    const std::size_t dense = first_dense_loop(loops, item_size);
    is_transposed_ = Nest::taken(loops, item_size).is_transposed();
    if (is_transposed_ || bytes_of(loops.subspan(dense), item_size) < kDenseRow) return;
    if (stores == Stores::Streaming || !take_all(loops)) outer_ = dense;
  }

  void fill(Loops loops, std::byte* dst, const std::byte* src, std::size_t depth = 0) const {
    if (depth == outer_) return fill_dense(loops, dst, src);
    if (outer_ == kNone && take_all(loops)) return MoveNest(loops, item_size_, rows_).run(dst, src);
    const Loop& loop = loops[0];
    const std::int64_t end = loop.start + (loop.count - 1) * loop.step + 1;
    zero(loops, 0, loop.count == 0 ? loop.extent : loop.start, dst);
    if (loop.count == 0) return;
    taken(loops, dst + loop.start * loop.dst_stride, src, depth);
    zero(loops, end, loop.extent, dst);
  }

 private:
  static constexpr std::int64_t kDenseRow = 2048, kBoxBytes = 16 << 10, kTransposedBytes = 128 << 10;

  void taken(Loops loops, std::byte* dst, const std::byte* src, std::size_t depth) const {
    const Loop& loop = loops[0];
    const auto gap = [&](std::int64_t next) {  // the positions before that taken one
      if (next > 0) zero(loops, 0, loop.step - 1, dst + ((next - 1) * loop.step + 1) * loop.dst_stride);
    };
    const std::int64_t most = is_transposed_ ? kTransposedBytes : kBoxBytes;
    if (outer_ == kNone && bytes_of(loops.subspan(1), item_size_) * loop.step <= most / 2) {
      return Boxes(loops, most, item_size_, rows_)
          .for_each([&](const Box& box, std::int64_t first, std::int64_t) {
            gap(first);
            box.fill(dst + first * loop.step * loop.dst_stride, src + first * loop.src_stride);
          });
    }
    for (std::int64_t i = 0; i < loop.count; ++i) {
      gap(i);
      fill(loops.subspan(1), dst + i * loop.step * loop.dst_stride, src + i * loop.src_stride, depth + 1);
    }
  }

  // Positions [lo, hi) of the outermost loop.
  void zero(Loops loops, std::int64_t lo, std::int64_t hi, std::byte* dst) const {
    if (lo >= hi) return;
    InlineVector<Loop> part(loops);
    part[0].extent = hi - lo;
    const Loops all{part.begin(), part.end()};
    dst += lo * loops[0].dst_stride;
    ZeroNest(all, item_size_, rows_).run(dst);
  }

  void fill_dense(Loops loops, std::byte* dst, const std::byte* src) const {
    if (stores_ == Stores::Streaming) return emit<StreamWriter>(loops, dst, src);
    emit<DirectWriter>(loops, dst, src);
  }

  template <class Writer>
  void emit(Loops loops, std::byte* dst, const std::byte* src) const {
    Writer writer(dst, rows_);
    Emitter<Writer>(writer, item_size_, rows_).emit(loops, src);
    writer.finish();
  }

  static constexpr std::size_t kNone = static_cast<std::size_t>(-1);
  std::int64_t item_size_;
  const RowKernels& rows_;
  Stores stores_;
  bool is_transposed_;
  std::size_t outer_ = kNone;  // how many loops there are around the long dense rows
};

void fill_piece(const Plan& plan, std::byte* dst, const std::byte* src, const RowKernels& rows, Stores stores) {
  dst += plan.dst_offset();
  src += plan.src_offset();
  Filler(plan.loops(), plan.item_size(), rows, stores).fill(plan.loops(), dst, src);
}

template <class Body>
void for_each_piece(const Plan& plan, const KernelContext& context, const Body& body) {
  if (context.pieces == 1) return body(plan);
  const std::vector<Plan> parts = split(plan, context.pieces);
  context.tasks.run(static_cast<std::int64_t>(parts.size()),
                    [&](std::int64_t i) { body(parts[static_cast<std::size_t>(i)]); });
}

// Whether the items that a loop takes lie one after the other on both sides.
bool is_run(const Loop& loop, std::int64_t item_size) {
  return loop.step == 1 && loop.count > 0 && (loop.src_stride == item_size || loop.count == 1);
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
  for_each_piece(plan, context, [&](const Plan& piece) {
    AddNest(piece.loops(), dtype, piece.item_size(), context.rows)
        .run(dst + piece.dst_offset(), src + piece.src_offset());
  });
}

}  // namespace backslice
