#include <algorithm>
#include <cstdlib>
#include <optional>

#include "core/items.h"
#include "core/tuning.h"
#include "kernels/cpu/writer.h"
#include "kernels/nest/nest.h"
#include "kernels/slice/kernel.h"
#include "plan/split.h"

namespace backslice {
namespace {

using Loops = std::span<const Loop>;

bool take_all(Loops loops) {
  return std::all_of(loops.begin(), loops.end(), [](const Loop& loop) { return loop.takes_all(); });
}

std::int64_t bytes_of(Loops loops, std::int64_t item_size) {
  for (const Loop& loop : loops) item_size *= loop.extent;
  return item_size;
}

// About how many bytes of cache lines of the destination have something taken.
std::int64_t bytes_touched(Loops loops, std::int64_t item_size) {
  std::int64_t bytes = item_size + kLine;
  for (std::size_t i = loops.size(); i-- > 0;) {
    const Loop& loop = loops[i];
    const std::int64_t apart = loop.step * loop.dst_stride;
    bytes = std::min(loop.count * bytes, bytes + std::max<std::int64_t>(loop.count - 1, 0) * apart);
  }
  return bytes;
}

// How many bytes of the destination are taken without a gap.
std::int64_t longest_run(Loops loops, std::int64_t item_size) {
  if (loops.empty() || loops.back().step > 1 || loops.back().dst_stride != item_size) return item_size;
  return loops.back().count * item_size;
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

// A loop over so many of its taken positions, from the first of them to the last.
Loop part_of(const Loop& loop, std::int64_t count) {
  return {(count - 1) * loop.step + 1, 0, loop.step, count, loop.dst_stride, loop.src_stride};
}

// Whether there are row kernels for it that write every byte of a dense destination once: short steps, reversals.
bool is_spread(const Loop& loop, std::int64_t item_size) {
  const bool is_near = loop.src_stride == item_size || loop.src_stride == -item_size;
  const bool is_plain = loop.step == 1 && loop.src_stride == item_size;
  return width_index(item_size) >= 0 && item_size <= 8 && loop.step <= 4 && loop.count > 1 && is_near && !is_plain;
}

// The boxes along a loop: a few kilobytes of the destination, from one taken position to another. All but the last are
// alike.
class Boxes {
 public:
  Boxes(Loops loops, std::int64_t most_bytes, std::int64_t item_size) : loops_(loops) {
    const Loop& loop = loops[0];
    is_downwards_ = loops.size() == 1 && loop.src_stride < 0;
    const std::int64_t bytes = bytes_of(loops.subspan(1), item_size) * loop.step;
    count_ = std::clamp<std::int64_t>(most_bytes / bytes, 1, loop.count);
    InlineVector<Loop> part(loops);
    part[0] = part_of(loop, count_);
    box_.emplace(Loops(part.begin(), part.end()), item_size);
    if (loop.count % count_ == 0) return;
    part[0] = part_of(loop, loop.count % count_);
    last_.emplace(Loops(part.begin(), part.end()), item_size);
  }

  bool are_of(Loops loops) const { return loops.data() == loops_.data(); }

  // Calls body(box, its source, number of its first taken position, how many of them).
  template <class Body>
  void for_each(const std::byte* src, const Body& body) const {
    const Loop& loop = loops_[0];
    for (std::int64_t i = 0; i < loop.count; i += count_) {
      const std::int64_t count = std::min(count_, loop.count - i), next = i + count;
      const std::byte* const from = src + i * loop.src_stride;
      if (is_downwards_)
        prefetch_items(src + next * loop.src_stride, loop.src_stride, std::min(count_, loop.count - next));
      body(count == count_ ? *box_ : *last_, from, i, count);
    }
  }

 private:
  Loops loops_;
  std::int64_t count_;
  std::optional<FillNest> box_, last_;
  bool is_downwards_;  // each box is read upwards, but lies before the one before it
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
  static constexpr std::int64_t kComposed = kMaxReserve / 2;  // longer rows are not composed together

  // From the first taken position to the last.
  void taken(Loops loops, const std::byte* src) {
    const Loop& loop = loops[0];
    if (loops.size() == 1 && loop.step == 1 && loop.src_stride == item_size_) {
      return writer_.copy(src, loop.count * item_size_);
    }
    if (loops.size() == 1 && is_spread(loop, item_size_)) return spread(loop, src);
    if (loop.step * loop.dst_stride <= kComposed) {
      if (!lines(loops, src)) compose(loops, src);
      return;
    }
    for (std::int64_t i = 0; i < loop.count; ++i) {
      if (i > 0) writer_.zero((loop.step - 1) * loop.dst_stride);
      emit(loops.subspan(1), src + i * loop.src_stride);
    }
  }

  void spread(const Loop& loop, const std::byte* src) {
    const int width = width_index(item_size_);
    if (writer_.spread(src, loop.count, loop.step, loop.src_stride, width)) return;
    const std::int64_t most = kMaxReserve / (loop.step * item_size_);
    for (std::int64_t i = 0; i < loop.count;) {
      const std::int64_t now = std::min(most, loop.count - i);
      const std::int64_t bytes = ((now - 1) * loop.step + 1) * item_size_;
      rows_.spread[width](writer_.reserve(bytes), src + i * loop.src_stride, now, loop.step, loop.src_stride);
      writer_.commit(bytes);
      i += now;
      if (i < loop.count) writer_.zero((loop.step - 1) * item_size_);
    }
  }

  // Rows with one run each.
  bool lines(Loops loops, const std::byte* src) {
    if (loops.size() != 2 || loops[0].step != 1 || loops[1].step != 1 || loops[0].dst_stride > kTuning.line_rows)
      return false;
    if (loops[1].count == 0 || (loops[1].count > 1 && loops[1].src_stride != item_size_)) return false;
    return writer_.lines(src, {.rows = loops[0].count,
                               .row_bytes = loops[0].dst_stride,
                               .run_start = loops[1].start * item_size_,
                               .run_bytes = loops[1].count * item_size_,
                               .src_stride = loops[0].src_stride});
  }

  void compose(Loops loops, const std::byte* src) {
    const Loop& loop = loops[0];
    if (!boxes_ || !boxes_->are_of(loops)) boxes_.emplace(loops, kMaxReserve, item_size_);
    boxes_->for_each(src, [&](const FillNest& box, const std::byte* from, std::int64_t first, std::int64_t count) {
      if (first > 0) writer_.zero((loop.step - 1) * loop.dst_stride);
      const std::int64_t bytes = ((count - 1) * loop.step + 1) * loop.dst_stride;
      box.run(writer_.reserve(bytes), from, rows_);
      writer_.commit(bytes);
    });
  }

  Writer& writer_;
  const RowKernels& rows_;
  std::int64_t item_size_;
  std::optional<Boxes> boxes_;
};

// Fills a destination of any layout.
class Filler {
 public:
  Filler(Loops loops, std::int64_t item_size, const RowKernels& rows, Stores stores)
      : loops_(loops),
        item_size_(item_size),
        rows_(rows),
        stores_(stores),
        dense_(first_dense_loop(loops, item_size)) {}

  void fill(std::byte* dst, const std::byte* src) {
    for (const Variant& variant : kVariants) {
      if (variant.pays(*this)) return variant.run(*this, dst, src);
    }
  }

  void fill_by(FillWay way, std::byte* dst, const std::byte* src) {
    kVariants[static_cast<std::size_t>(way)].run(*this, dst, src);
  }

 private:
  // A way to fill any destination, and whether it is worth its while where those before it are not.
  struct Variant {
    bool (*pays)(Filler& filler);
    void (*run)(Filler& filler, std::byte* dst, const std::byte* src);
  };
  static const Variant kVariants[kFillWays];  // in the order of FillWay

  static constexpr std::size_t kNone = static_cast<std::size_t>(-1);
  static constexpr std::int64_t kComposedBytes = kTuning.composed_box;

  bool streams() const { return stores_ == Stores::Streaming; }

  bool has_long_rows() const {
    const bool is_spread_out = dense_ < loops_.size() && is_spread(loops_.back(), item_size_) &&
                               loops_.back().extent * item_size_ >= kTuning.spread_row;
    return bytes_of(loops_.subspan(dense_), item_size_) >= kTuning.dense_row && (streams() || is_spread_out);
  }

  bool is_transposed() {
    if (!is_transposed_) is_transposed_ = Nest::taken(loops_, item_size_).is_transposed();
    return *is_transposed_;
  }

  // Whether rows that a writer puts together lie one before the other in the source: memory is walked faster upwards.
  bool runs_downwards() const {
    return !loops_.empty() && loops_.back().src_stride < 0 && !is_spread(loops_.back(), item_size_);
  }

  // Where nothing is left out, where all of it stays in the cache, or where little is taken.
  bool nest_pays() {
    const std::int64_t bytes = bytes_of(loops_, item_size_);
    if (!streams() && (take_all(loops_) || (bytes <= kTuning.box && !has_long_rows()))) return true;
    if (take_all(loops_) && (is_transposed() || runs_downwards())) return true;
    const bool zeros_are_fast =
        bytes > kTuning.slow_zeros && bytes_of(loops_.subspan(dense_), item_size_) >= kTuning.zero_run;
    return bytes_touched(loops_, item_size_) <= bytes / (zeros_are_fast ? 2 : kTuning.sparse) &&
           (is_transposed() || longest_run(loops_, item_size_) < kTuning.long_run);
  }

  void fill_nest(std::byte* dst, const std::byte* src) { FillNest(loops_, item_size_).run(dst, src, rows_, streams()); }
  void fill_rows(std::byte* dst, const std::byte* src) {
    outer_ = dense_;
    fill(loops_, dst, src, 0);
  }
  void fill_boxes(std::byte* dst, const std::byte* src) { fill(loops_, dst, src, 0); }

  // In groups of a few positions that share lines of the source, each as the innermost loop: so that every box has
  // whole ones.
  void fill_transposed(std::byte* dst, const std::byte* src) {
    if (loops_.empty()) return fill_nest(dst, src);
    box_bytes_ = kTuning.transposed_box;
    const auto distance = [](const Loop& loop) { return loop.count > 1 ? std::abs(loop.src_stride) : INT64_MAX; };
    const auto closest = std::min_element(loops_.begin(), loops_.end(),
                                          [&](const Loop& a, const Loop& b) { return distance(a) < distance(b); });
    InlineVector<Loop> inner;
    for (auto loop = loops_.begin(); loop != loops_.end(); ++loop) {
      if (loop != closest) inner.push_back(*loop);
    }
    const Loop along = *closest;
    inner.push_back(along);
    const std::int64_t apart = std::max<std::int64_t>(bytes_of(loops_, item_size_) / along.extent, 1);
    const std::int64_t least = along.step * std::max<std::int64_t>(2 * kLine / item_size_, 16);
    const bool composes = streams() && closest == loops_.begin() && along.dst_stride == apart &&
                          first_dense_loop(loops_, item_size_) == 0 && least * apart <= kComposedBytes;
    const std::int64_t group = std::max(least, (composes ? kComposedBytes : box_bytes_) / apart);
    for (std::int64_t first = 0; first < along.extent; first += group) {
      const PlacedLoop part = restricted(along, {first, std::min(along.extent, first + group)});
      inner[inner.size() - 1] = part.loop;
      const Loops group_loops(inner.begin(), inner.end());
      std::byte* const to = dst + part.dst_offset;
      if (part.loop.count == 0) {
        zero(group_loops, inner[0].extent, to);
      } else if (composes) {
        compose(group_loops, part.loop.extent * apart, to, src + part.src_offset);
      } else {
        fill(group_loops, to, src + part.src_offset, 0);
      }
      boxes_.reset();
    }
  }

  // A dense part of the destination, put together in the cache and written past it.
  void compose(Loops loops, std::int64_t bytes, std::byte* dst, const std::byte* src) const {
    alignas(kLine) std::byte composed[kComposedBytes];
    FillNest(loops, item_size_).run(composed, src, rows_);
    StreamWriter writer(dst, rows_);
    writer.copy(composed, bytes);
    writer.finish();
  }

  void fill(Loops loops, std::byte* dst, const std::byte* src, std::size_t depth) {
    if (depth == outer_) return fill_dense(loops, dst, src);
    if (outer_ == kNone && take_all(loops)) return Nest::taken(loops, item_size_).move(dst, src, rows_);
    const Loop& loop = loops[0];
    if (loop.count == 0) return zero(loops, loop.extent, dst);
    zero(loops, loop.start, dst);
    taken(loops, dst + loop.start * loop.dst_stride, src, depth);
    const std::int64_t end = loop.start + (loop.count - 1) * loop.step + 1;
    zero(loops, loop.extent - end, dst + end * loop.dst_stride);
  }

  // From the first taken position to the last.
  void taken(Loops loops, std::byte* dst, const std::byte* src, std::size_t depth) {
    const Loop& loop = loops[0];
    const auto gap_before = [&](std::int64_t taken_position) {
      if (taken_position == 0) return;
      zero(loops, loop.step - 1, dst + ((taken_position - 1) * loop.step + 1) * loop.dst_stride);
    };
    if (outer_ == kNone && bytes_of(loops.subspan(1), item_size_) * loop.step <= box_bytes_ / 2) {
      if (!boxes_ || !boxes_->are_of(loops)) boxes_.emplace(loops, box_bytes_, item_size_);
      return boxes_->for_each(src, [&](const FillNest& box, const std::byte* from, std::int64_t first, std::int64_t) {
        gap_before(first);
        box.run(dst + first * loop.step * loop.dst_stride, from, rows_);
      });
    }
    for (std::int64_t i = 0; i < loop.count; ++i) {
      gap_before(i);
      fill(loops.subspan(1), dst + i * loop.step * loop.dst_stride, src + i * loop.src_stride, depth + 1);
    }
  }

  // So many positions of the outermost loop.
  void zero(Loops loops, std::int64_t positions, std::byte* dst) const {
    if (positions <= 0) return;
    InlineVector<Loop> part(loops);
    part[0].extent = positions;
    Nest::written(Loops(part.begin(), part.end()), item_size_).zero(dst, rows_, streams());
  }

  void fill_dense(Loops loops, std::byte* dst, const std::byte* src) const {
    if (streams()) return emit<StreamWriter>(loops, dst, src);
    emit<DirectWriter>(loops, dst, src);
  }

  template <class Writer>
  void emit(Loops loops, std::byte* dst, const std::byte* src) const {
    Writer writer(dst, rows_);
    Emitter<Writer>(writer, item_size_, rows_).emit(loops, src);
    writer.finish();
  }

  Loops loops_;
  std::int64_t item_size_;
  const RowKernels& rows_;
  Stores stores_;
  std::size_t dense_;          // how many loops there are around the dense rows
  std::size_t outer_ = kNone;  // the same, where a writer fills these
  std::int64_t box_bytes_ = kTuning.box;
  std::optional<bool> is_transposed_;
  std::optional<Boxes> boxes_;
};

const Filler::Variant Filler::kVariants[kFillWays] = {
    {[](Filler& f) { return f.nest_pays(); }, [](Filler& f, std::byte* d, const std::byte* s) { f.fill_nest(d, s); }},
    {[](Filler& f) { return f.is_transposed(); },
     [](Filler& f, std::byte* d, const std::byte* s) { f.fill_transposed(d, s); }},
    {[](Filler& f) { return f.has_long_rows(); },
     [](Filler& f, std::byte* d, const std::byte* s) { f.fill_rows(d, s); }},
    {[](Filler&) { return true; }, [](Filler& f, std::byte* d, const std::byte* s) { f.fill_boxes(d, s); }},
};

template <class Body>
void for_each_piece(const Plan& plan, const KernelContext& context, const Body& body) {
  if (context.pieces == 1) return body(plan);
  const std::vector<Plan> parts = split(plan, context.pieces);
  context.tasks.run(static_cast<std::int64_t>(parts.size()),
                    [&](std::int64_t i) { body(parts[static_cast<std::size_t>(i)]); });
}

// Objects are moved one by one, on this thread.
void fill_objects(const Plan& plan, DType dtype, std::byte* dst, const std::byte* src, const TaskRunner& tasks) {
  if (!tasks.can_be_cancelled()) return reference::overwrite(plan, dtype, dst, src);
  const std::int64_t pieces = std::max<std::int64_t>(1, plan.dst_bytes() / kLargestCancellablePiece);
  for (const Plan& piece : split(plan, pieces)) {
    if (pieces > 1) tasks.throw_if_cancelled();
    tasks.note_begun();
    reference::overwrite(piece, dtype, dst, src);
  }
}

}  // namespace

std::optional<FillNest> small_fill(const Plan& plan) {
  if (plan.is_empty() || plan.dst_offset() != 0 || plan.src_offset() != 0) return std::nullopt;
  if (plan.dst_bytes() > kTuning.prepared_bytes) return std::nullopt;
  return FillNest(plan.loops(), plan.item_size());
}

void fill(const Plan& plan, DType dtype, std::byte* dst, const std::byte* src, const KernelContext& context,
          std::optional<FillWay> way) {
  if (plan.is_empty()) return;
  if (!are_bytes(dtype)) return fill_objects(plan, dtype, dst, src, context.tasks);
  for_each_piece(plan, context, [&](const Plan& piece) {
    Filler filler(piece.loops(), piece.item_size(), context.rows, context.stores);
    std::byte* const to = dst + piece.dst_offset();
    const std::byte* const from = src + piece.src_offset();
    way ? filler.fill_by(*way, to, from) : filler.fill(to, from);
  });
}

void add(const Plan& plan, DType dtype, std::byte* dst, const std::byte* src, const KernelContext& context) {
  if (plan.is_empty()) return;
  for_each_piece(plan, context, [&](const Plan& piece) {
    Nest::taken(piece.loops(), piece.item_size())
        .add(dst + piece.dst_offset(), src + piece.src_offset(), dtype, piece.item_size(), context.rows);
  });
}

}  // namespace backslice
