#include <algorithm>
#include <cassert>
#include <complex>
#include <cstring>
#include <mutex>
#include <optional>
#include <type_traits>
#include <vector>

#include "core/checked_math.h"
#include "core/per_axis.h"
#include "core/tuning.h"
#include "core/visit_dtype.h"
#include "kernels/cpu/rows.h"
#include "kernels/cpu/writer.h"
#include "kernels/nest/nest.h"
#include "kernels/tiles/kernel.h"
#include "kernels/tiles/parts.h"
#include "plan/cut.h"

namespace backslice {
namespace {

// -- Rows of a tile, prepared for additions, and the memory of tiles

// The number that changes nothing when something is added to it: minus zero, or zero for a dtype without minus zero.
template <class T>
T identity() {
  T value{};
  if constexpr (std::is_floating_point_v<T>) {
    value = T{-0.0};
  } else if constexpr (std::is_same_v<T, std::complex<float>> || std::is_same_v<T, std::complex<double>>) {
    value = T(-0.0, -0.0);
  } else if constexpr (requires { T::kNegativeZero; }) {
    value.bits = static_cast<decltype(value.bits)>(T::kNegativeZero);
  }
  return value;
}

// Row operations on a dense tile; steps and strides are in bytes.
template <class T>
struct RowIdentity {
  void operator()(std::byte* dst, const std::byte*, std::int64_t n, std::int64_t step, std::int64_t) const {
    constexpr auto kSize = static_cast<std::int64_t>(sizeof(T));
    const T value = identity<T>();
    const auto each = [&](std::int64_t apart) {
      for (std::int64_t i = 0; i < n; ++i) std::memcpy(dst + i * apart, &value, sizeof(T));
    };
    step == kSize ? each(kSize) : each(step);  // the first becomes vector stores
  }
};

// float8_e8m0fnu has no such number: the covered elements are remembered one by one.
struct RowCopyOrAdd {
  std::byte* tile;
  std::vector<char>& covered;
  void operator()(std::byte* dst, const std::byte* src, std::int64_t n, std::int64_t step, std::int64_t stride) const {
    for (std::int64_t i = 0; i < n; ++i) {
      std::byte* to = dst + i * step;
      char& seen = covered[static_cast<std::size_t>(to - tile)];
      Float8E8M0FNU a, b;
      std::memcpy(&a, to, 1);
      std::memcpy(&b, src + i * stride, 1);
      if (seen) b = a + b;
      std::memcpy(to, &b, 1);
      seen = 1;
    }
  }
};

// -- Memory in which tiles are composed: one block per operation, with a tile for each of its threads.

// A task borrows a tile and returns it at its end. The tile returned last is lent first, mostly to the same thread,
// whose cache still has it.
class TileMemory {
 public:
  // Makes at most `tasks` tiles of that many bytes; none if bytes is 0.
  TileMemory(std::int64_t tasks, std::int64_t bytes, const KernelContext& context)
      : bytes_(bytes), allocator_(context.allocator) {
    if (bytes == 0) return;
    const std::int64_t tiles = std::min<std::int64_t>(tasks, context.tasks.concurrency());
    const std::int64_t lines = (bytes - 1) / kLine + 1;  // no two tiles share a cache line
    const auto all = checked_multiply(tiles, lines);
    if (!all) throw std::bad_alloc();
    block_ = allocate_scratch<Line>(*all, allocator_);
    for (std::int64_t i = tiles; i-- > 0;) free_.push_back(block_->data() + i * lines * kLine);
  }

  class Borrowed {
   public:
    explicit Borrowed(TileMemory& from) : from_(from), tile_(from.take()) {
      if (tile_ != nullptr || from.bytes_ == 0) return;
      own_ =
          allocate_scratch<std::byte>(from.bytes_, from.allocator_);  // the executor runs more tasks than it reported
    }
    Borrowed(const Borrowed&) = delete;
    Borrowed& operator=(const Borrowed&) = delete;
    ~Borrowed() {
      if (tile_ != nullptr) from_.give_back(tile_);
    }
    std::byte* data() const { return own_ ? own_->data() : tile_; }

   private:
    TileMemory& from_;
    std::byte* tile_;
    std::optional<Buffer> own_;
  };

 private:
  struct Line {
    std::byte bytes[kLine];
  };

  std::byte* take() {
    const std::lock_guard lock(mutex_);
    if (free_.empty()) return nullptr;
    std::byte* const tile = free_.back();
    free_.pop_back();
    return tile;
  }

  void give_back(std::byte* tile) noexcept {  // into the room that it left
    const std::lock_guard lock(mutex_);
    free_.push_back(tile);
  }

  std::int64_t bytes_;
  Allocator& allocator_;
  std::optional<Buffer> block_;
  std::mutex mutex_;
  std::vector<std::byte*> free_;
};

// -- Tiles

// The part of a slice in a tile: the axes from the cut one on, in the tile's coordinates.
struct TilePart {
  const std::byte* source;
  std::size_t first_axis;  // in Scratch::axes
};

// One thread's tile and lists, reused from tile to tile.
struct Scratch {
  std::byte* tile;  // none if nothing is composed
  std::vector<AxisPart> axes;
  std::vector<TilePart> parts;
  std::vector<char> covered;
  bool is_whole = false;  // one of the parts covers the whole tile, and hides earlier ones
};

class TileFiller {
 public:
  TileFiller(const CommonAxes& common, const Grid& grid, const Buckets& buckets, DType dtype, std::int64_t item_size,
             Overlap overlap, Write write, std::byte* dst, const KernelContext& context)
      : common_(common),
        grid_(grid),
        buckets_(buckets),
        dtype_(dtype),
        item_size_(item_size),
        disjoint_(overlap == Overlap::None),
        last_wins_(overlap == Overlap::LastWins),
        into_zeros_(write == Write::IntoZeros),
        dst_(dst),
        context_(context),
        tile_rank_(common.rank() - std::max(grid.cut, 0)) {
    std::int64_t size = item_size;
    for (int depth = tile_rank_ - 1; depth >= 0; --depth) {
      const CommonAxes::Axis& axis = common.axis(common.rank() - tile_rank_ + depth);
      tile_strides_[depth] = size;
      dst_strides_[depth] = axis.dst_stride;
      size *= axis.extent;
    }
  }

  // Whether a tile may be more than zeros and runs of bytes, one after the other.
  bool composes() const {
    if (!rows_are_dense() || (!disjoint_ && common_.slices() > 1)) return true;
    const auto is_run = [&](std::int64_t s) { return is_run_of_bytes(common_.slice(s)[common_.rank() - 1]); };
    for (std::int64_t s = 0; grid_.run > 1 && s < common_.slices(); ++s) {
      if (!is_run(s)) return true;
    }
    return false;
  }

  void fill(std::int64_t tile, Scratch& scratch) const {
    PerAxis<std::int64_t> outer{};
    const std::int64_t run = tile % grid_.runs;
    std::int64_t rest = tile / grid_.runs;
    std::byte* dst = dst_;
    for (int k = grid_.cut - 1; k >= 0; --k) {
      outer[k] = rest % common_.axis(k).extent;
      rest /= common_.axis(k).extent;
      dst += outer[k] * common_.axis(k).dst_stride;
    }
    const Range positions = positions_of(run);
    const std::int64_t elements = (positions.hi - positions.lo) * grid_.inner;
    if (grid_.cut >= 0) dst += positions.lo * common_.axis(grid_.cut).dst_stride;

    const std::int64_t covered = find_parts(outer.items, run, positions, scratch);
    if (into_zeros_ && covered == 0) return;
    if (are_runs(scratch)) {
      if (context_.stores == Stores::Streaming) return write_runs<StreamWriter>(scratch, dst, elements);
      return write_runs<DirectWriter>(scratch, dst, elements);
    }
    assert(scratch.tile != nullptr);
    if (into_zeros_ && 2 * bytes_touched(scratch) < elements * item_size_) return write_taken(scratch, dst, elements);
    if (!scratch.is_whole && (covered < elements || !disjoint_)) zero_bytes(scratch.tile, elements * item_size_);
    compose(scratch, elements);
    write_out(scratch.tile, dst, positions.hi - positions.lo);
  }

 private:
  Range positions_of(std::int64_t run) const {
    if (grid_.cut < 0) return {0, 1};
    return {run * grid_.run, std::min((run + 1) * grid_.run, common_.axis(grid_.cut).extent)};
  }

  // Collects the parts of slices in the tile; returns the number of their elements, with repetitions.
  std::int64_t find_parts(const std::int64_t* outer, std::int64_t run, Range positions, Scratch& scratch) const {
    scratch.axes.clear();
    scratch.parts.clear();
    scratch.is_whole = false;
    std::int64_t total = 0;
    std::int64_t step = 0;
    for (std::int64_t s : buckets_.candidates(outer, run)) {
      context_.tasks.throw_if_cancelled_at(++step);
      const AxisPart* slice = common_.slice(s);
      const std::byte* source = common_.sources[static_cast<std::size_t>(s)];
      bool meets = true;
      for (int k = 0; k < grid_.cut && meets; ++k) {
        const std::int64_t ahead = outer[k] - slice[k].start;
        meets = ahead >= 0 && outer[k] <= slice[k].last() && (slice[k].step == 1 || ahead % slice[k].step == 0);
        if (meets) source += ahead / slice[k].step * slice[k].src_stride;
      }
      if (!meets) continue;
      std::int64_t elements = 1;
      const std::size_t first_axis = scratch.axes.size();
      for (int k = std::max(grid_.cut, 0); k < common_.rank(); ++k) {
        AxisPart part = slice[k];
        if (k == grid_.cut) {
          const PlacedLoop inside = restricted(common_.loop(s, k), positions);
          part = {inside.loop.start, inside.loop.step, inside.loop.count, inside.loop.src_stride};
          source += inside.src_offset;
        }
        elements *= part.count;
        scratch.axes.push_back(part);
      }
      if (elements == 0) {
        scratch.axes.resize(first_axis);
        continue;
      }
      scratch.parts.push_back({source, first_axis});
      total += elements;
      if (last_wins_ && elements == (positions.hi - positions.lo) * grid_.inner) keep_last_part(scratch);
    }
    return total;
  }

  static void keep_last_part(Scratch& scratch) {
    TilePart& last = scratch.parts.back();
    scratch.axes.erase(scratch.axes.begin(), scratch.axes.begin() + static_cast<std::ptrdiff_t>(last.first_axis));
    last.first_axis = 0;
    scratch.parts.erase(scratch.parts.begin(), scratch.parts.end() - 1);
    scratch.is_whole = true;
  }

  // Whether a tile is one row without gaps.
  bool rows_are_dense() const { return tile_rank_ == 1 && common_.axes.back().dst_stride == item_size_; }

  bool is_run_of_bytes(const AxisPart& axis) const {
    return axis.count == 1 || (axis.step == 1 && axis.src_stride == item_size_);
  }

  // Whether the tile is zeros and runs of bytes, one after the other: nothing has to be composed.
  bool are_runs(const Scratch& scratch) const {
    if (!rows_are_dense() || (!disjoint_ && scratch.parts.size() > 1)) return false;
    return std::all_of(scratch.axes.begin(), scratch.axes.end(),
                       [&](const AxisPart& axis) { return is_run_of_bytes(axis); });
  }

  template <class Writer>
  void write_runs(Scratch& scratch, std::byte* dst, std::int64_t elements) const {
    auto& parts = scratch.parts;
    const auto start = [&](const TilePart& part) { return scratch.axes[part.first_axis].start; };
    const auto earlier = [&](const TilePart& a, const TilePart& b) { return start(a) < start(b); };
    if (!std::is_sorted(parts.begin(), parts.end(), earlier)) std::sort(parts.begin(), parts.end(), earlier);
    auto next = parts.begin();
    do {  // once, or from one long gap to the next if zeros need not be written
      std::int64_t written = into_zeros_ ? start(*next) : 0;
      Writer writer(dst + written * item_size_, context_.rows);
      for (; next != parts.end() && !skips((start(*next) - written) * item_size_); ++next) {
        const std::int64_t count = scratch.axes[next->first_axis].count;
        writer.zero((start(*next) - written) * item_size_);
        writer.copy(next->source, count * item_size_);
        written = start(*next) + count;
      }
      if (!into_zeros_) writer.zero((elements - written) * item_size_);
      writer.finish();
    } while (next != parts.end());
  }

  // Whether a gap of so many bytes is skipped. Shorter ones cost less to write than to skip.
  bool skips(std::int64_t gap) const { return into_zeros_ && gap >= kTuning.short_gap; }

  // Estimates the memory that is read or written for the parts alone: whole cache lines.
  std::int64_t bytes_touched(const Scratch& scratch) const {
    if (tile_rank_ == 0) return item_size_;
    std::int64_t bytes = 0;
    for (const TilePart& part : scratch.parts) {
      const AxisPart* axes = scratch.axes.data() + part.first_axis;
      std::int64_t rows = 1;
      for (int depth = 0; depth < tile_rank_ - 1; ++depth) rows *= axes[depth].count;
      const AxisPart& row = axes[tile_rank_ - 1];
      const std::int64_t apart = row.step == 1 ? item_size_ : std::min(row.step * item_size_, item_size_ + kLine);
      bytes += rows * (row.count * apart + kLine);
    }
    return bytes;
  }

  // Into zeros: writes only selected elements. Sums are formed in the tile, where only they have values then.
  void write_taken(Scratch& scratch, std::byte* dst, std::int64_t elements) const {
    if (!disjoint_ && !last_wins_ && scratch.parts.size() > 1) {
      compose(scratch, elements);
      take_from_tile(scratch);
    }
    for (const TilePart& part : scratch.parts) {
      copy(scratch.axes.data() + part.first_axis, dst_strides_, dst, part.source);
    }
  }

  // The same parts, with the tile as their source.
  void take_from_tile(Scratch& scratch) const {
    for (TilePart& part : scratch.parts) {
      std::int64_t offset = 0;
      for (int depth = 0; depth < tile_rank_; ++depth) {
        AxisPart& axis = scratch.axes[part.first_axis + static_cast<std::size_t>(depth)];
        offset += axis.start * tile_strides_[depth];
        axis.src_stride = axis.step * tile_strides_[depth];
      }
      part.source = scratch.tile + offset;
    }
  }

  void compose(Scratch& scratch, std::int64_t elements) const {
    if (disjoint_ || last_wins_ || scratch.parts.size() <= 1) {
      for (const TilePart& part : scratch.parts) copy(scratch, part);
    } else if (dtype_ == DType::Float8E8M0FNU) {
      scratch.covered.assign(static_cast<std::size_t>(elements), 0);
      for (const TilePart& part : scratch.parts) walk(scratch, part, RowCopyOrAdd{scratch.tile, scratch.covered});
    } else {
      visit_addable(dtype_, [&]<class T>() { compose_sums<T>(scratch); });
    }
  }

  // Parts that meet no earlier part are copied. The others are added; gaps are first filled with the number that
  // changes nothing.
  template <class T>
  void compose_sums(Scratch& scratch) const {
    const auto& parts = scratch.parts;
    std::array<bool, kPairwise> fresh;
    const bool few = parts.size() <= kPairwise;
    for (std::size_t i = 0; i < parts.size(); ++i) {
      const bool is_fresh = i == 0 || (few && meets_none_before(scratch, i));
      if (few) fresh[i] = is_fresh;
      context_.tasks.throw_if_cancelled_at(static_cast<std::int64_t>(i + 1));
      if (!is_fresh) walk(scratch, parts[i], RowIdentity<T>{});
    }
    for (std::size_t i = 0; i < parts.size(); ++i) {
      context_.tasks.throw_if_cancelled_at(static_cast<std::int64_t>(i + 1));
      if (i == 0 || (few && fresh[i])) {
        copy(scratch, parts[i]);
      } else {
        const PlacedNest part = nest_of(scratch.axes.data() + parts[i].first_axis, tile_strides_);
        part.nest.add(scratch.tile + part.offset, parts[i].source, dtype_, item_size_, context_.rows);
      }
    }
  }

  static constexpr std::size_t kPairwise = 16;
  bool meets_none_before(const Scratch& scratch, std::size_t i) const {
    const AxisPart* axes = scratch.axes.data() + scratch.parts[i].first_axis;
    for (std::size_t j = 0; j < i; ++j) {
      if (intersect(scratch.axes.data() + scratch.parts[j].first_axis, axes, tile_rank_)) return false;
    }
    return true;
  }

  template <class Row>
  void walk(const Scratch& scratch, const TilePart& part, const Row& row) const {
    walk(scratch.axes.data() + part.first_axis, tile_strides_, scratch.tile, part.source, row);
  }

  // In the tile or in the destination, with these distances between positions on each axis.
  using Strides = PerAxis<std::int64_t>;

  struct PlacedNest {
    Nest nest;
    std::int64_t offset;
  };
  PlacedNest nest_of(const AxisPart* parts, const Strides& strides) const {
    Nest::Axes axes;
    std::int64_t offset = 0;
    for (int depth = 0; depth < tile_rank_; ++depth) {
      const AxisPart& part = parts[depth];
      offset += part.start * strides[depth];
      if (part.count > 1) axes.push_back({part.count, part.step * strides[depth], part.src_stride});
    }
    return {Nest(axes, item_size_), offset};
  }

  void copy(const AxisPart* axes, const Strides& strides, std::byte* dst, const std::byte* src) const {
    const PlacedNest part = nest_of(axes, strides);
    part.nest.move(dst + part.offset, src, context_.rows);
  }
  void copy(const Scratch& scratch, const TilePart& part) const {
    copy(scratch.axes.data() + part.first_axis, tile_strides_, scratch.tile, part.source);
  }

  template <class Row>
  void walk(const AxisPart* axes, const Strides& strides, std::byte* dst, const std::byte* src, const Row& row,
            int depth = 0) const {
    if (depth == tile_rank_) return row(dst, src, 1, item_size_, item_size_);
    const AxisPart& axis = axes[depth];
    const std::int64_t apart = axis.step * strides[depth];
    dst += axis.start * strides[depth];
    if (depth == tile_rank_ - 1) return row(dst, src, axis.count, apart, axis.src_stride);
    for (std::int64_t i = 0; i < axis.count; ++i) {
      walk(axes, strides, dst + i * apart, src + i * axis.src_stride, row, depth + 1);
    }
  }

  // Copies the dense tile to the destination, which may have gaps.
  void write_out(const std::byte* tile, std::byte* dst, std::int64_t positions) const {
    const int first = std::max(grid_.cut, 0);
    int dense = common_.rank();
    std::int64_t bytes = item_size_;
    while (dense > first && common_.axis(dense - 1).dst_stride == bytes) {
      --dense;
      bytes *= dense == first ? positions : common_.axis(dense).extent;
    }
    write_boxes(tile, dst, first, dense, positions, bytes);
  }

  const std::byte* write_boxes(const std::byte* tile, std::byte* dst, int axis, int dense, std::int64_t extent,
                               std::int64_t bytes) const {
    if (axis == dense) {
      if (context_.stores == Stores::Streaming) {
        StreamWriter writer(dst, context_.rows);
        writer.copy(tile, bytes);
        writer.finish();
      } else {
        copy_bytes(dst, tile, bytes);
      }
      return tile + bytes;
    }
    for (std::int64_t i = 0; i < extent; ++i) {
      const std::int64_t next = axis + 1 < common_.rank() ? common_.axis(axis + 1).extent : 1;
      tile = write_boxes(tile, dst + i * common_.axis(axis).dst_stride, axis + 1, dense, next, bytes);
    }
    return tile;
  }

  const CommonAxes& common_;
  const Grid& grid_;
  const Buckets& buckets_;
  DType dtype_;
  std::int64_t item_size_;
  bool disjoint_, last_wins_, into_zeros_;
  std::byte* dst_;
  const KernelContext& context_;
  int tile_rank_;  // axes from the cut one on
  Strides tile_strides_{}, dst_strides_{};
};

}  // namespace

void fill_tiles(const CommonAxes& common, DType dtype, std::int64_t item_size, Overlap overlap, Write write,
                std::byte* dst, const KernelContext& context, std::int64_t tile_bytes) {
  std::int64_t bytes = item_size;
  for (const auto& axis : common.axes) bytes *= axis.extent;
  if (bytes == 0) return;
  const Grid grid = make_grid(common, item_size, tile_bytes);
  const Buckets buckets(common, grid, context.tasks);
  const TileFiller filler(common, grid, buckets, dtype, item_size, overlap, write, dst + common.dst_offset, context);
  const std::int64_t largest_tile = grid.run * grid.inner * item_size;
  // A task is a range of tiles that share one scratch.
  const std::int64_t tasks = std::min(grid.tiles, context.pieces);
  TileMemory memory(tasks, filler.composes() ? largest_tile : 0, context);
  const auto work = [&](std::int64_t task) {
    const TileMemory::Borrowed borrowed(memory);
    Scratch scratch{borrowed.data(), {}, {}, {}};
    const std::int64_t end = cut_at(grid.tiles, tasks, task + 1);
    for (std::int64_t tile = cut_at(grid.tiles, tasks, task); tile < end; ++tile) filler.fill(tile, scratch);
  };
  context.tasks.run(tasks, work);
}

}  // namespace backslice
