#include "kernels/multi/tiles.h"

#include <algorithm>
#include <cstring>
#include <memory>

#include "core/caches.h"
#include "core/visit_dtype.h"
#include "kernels/slice/writer.h"
#include "select/axis_math.h"

namespace backslice {
namespace {

constexpr std::int64_t kTileBytes = 128 << 10;  // half of a small L2 cache: the tile, and what flows into it

// The grid of tiles: inner axes whole, one axis cut into runs, outer axes one position at a time.
struct Grid {
  int cut = 0;             // the axis that is cut; -1 when there are no axes
  std::int64_t run = 1;    // its positions in a tile
  std::int64_t runs = 1;   // tiles along it
  std::int64_t inner = 1;  // elements of one position of it
  std::int64_t tiles = 1;
};

Grid make_grid(const CommonAxes& common, std::int64_t item_size) {
  Grid grid;
  grid.cut = common.rank() - 1;
  const std::int64_t most = std::max<std::int64_t>(1, kTileBytes / std::max<std::int64_t>(item_size, 1));
  while (grid.cut > 0 && grid.inner * common.axes[grid.cut].extent <= most) {
    grid.inner *= common.axes[grid.cut--].extent;
  }
  if (grid.cut < 0) return grid;
  const std::int64_t extent = common.axes[grid.cut].extent;
  grid.run = std::clamp<std::int64_t>(most / grid.inner, 1, extent);
  grid.runs = (extent + grid.run - 1) / grid.run;
  grid.tiles = grid.runs;
  for (int k = 0; k < grid.cut; ++k) grid.tiles *= common.axes[k].extent;
  return grid;
}

// Which slices meet each position (or run, on the cut axis) of one axis: the one that tells them apart best.
class Buckets {
 public:
  Buckets(const CommonAxes& common, const Grid& grid) : grid_(grid) {
    std::int64_t fewest = INT64_MAX;
    for (int k = 0; k <= grid.cut; ++k) {
      const std::int64_t entries = count_entries(common, k);
      // each cell of the axis is visited by all tiles that share it
      const std::int64_t cost = entries / std::max<std::int64_t>(1, cells(common, k)) + 1;
      if (cost < fewest) fewest = cost, axis_ = k;
    }
    lists_.resize(static_cast<std::size_t>(grid.cut < 0 ? 1 : cells(common, axis_)));
    for (std::int64_t s = 0; s < common.slices(); ++s) {
      const auto [first, last] = cell_range(common, axis_, s);
      for (std::int64_t c = first; c <= last; ++c) lists_[static_cast<std::size_t>(c)].push_back(s);
    }
  }

  // Candidates, in list order, for a tile at these positions of the outer axes and this run.
  const std::vector<std::int64_t>& candidates(const std::int64_t* outer, std::int64_t run) const {
    if (grid_.cut < 0) return lists_[0];
    return lists_[static_cast<std::size_t>(axis_ == grid_.cut ? run : outer[axis_])];
  }

 private:
  std::int64_t cells(const CommonAxes& common, int k) const {
    return k == grid_.cut ? grid_.runs : common.axes[k].extent;
  }

  std::pair<std::int64_t, std::int64_t> cell_range(const CommonAxes& common, int k, std::int64_t s) const {
    if (grid_.cut < 0) return {0, 0};
    const AxisPart& part = common.slice(s)[k];
    const std::int64_t unit = k == grid_.cut ? grid_.run : 1;
    return {part.start / unit, part.last() / unit};
  }

  std::int64_t count_entries(const CommonAxes& common, int k) const {
    std::int64_t entries = 0;
    for (std::int64_t s = 0; s < common.slices(); ++s) {
      const auto [first, last] = cell_range(common, k, s);
      entries += last - first + 1;
    }
    return entries;
  }

  const Grid& grid_;
  int axis_ = 0;
  std::vector<std::vector<std::int64_t>> lists_;
};

// What of a slice falls into a tile: the axes from the cut one on, in the tile's coordinates.
struct TilePart {
  const std::byte* source;
  std::size_t first_axis;  // in Scratch::axes
};

// Row operations on a dense tile; steps and strides are in bytes.
struct RowCopy {
  std::int64_t size;
  void operator()(std::byte* dst, const std::byte* src, std::int64_t n, std::int64_t step, std::int64_t stride) const {
    if (step == size && stride == size) return copy_bytes(dst, src, n * size);
    const auto each = [&]<std::int64_t kSize>() {
      for (std::int64_t i = 0; i < n; ++i) std::memcpy(dst + i * step, src + i * stride, kSize);
    };
    switch (size) {
      case 1: return each.template operator()<1>();
      case 2: return each.template operator()<2>();
      case 4: return each.template operator()<4>();
      case 8: return each.template operator()<8>();
      case 16: return each.template operator()<16>();
      default:
        for (std::int64_t i = 0; i < n; ++i) copy_bytes(dst + i * step, src + i * stride, size);
    }
  }
};

template <class T>
struct RowAdd {
  AddRow dense;
  void operator()(std::byte* dst, const std::byte* src, std::int64_t n, std::int64_t step, std::int64_t stride) const {
    if (dense != nullptr && step == sizeof(T) && stride == sizeof(T)) return dense(dst, src, n);
    for (std::int64_t i = 0; i < n; ++i) {
      T sum, term;
      std::memcpy(&sum, dst + i * step, sizeof(T));
      std::memcpy(&term, src + i * stride, sizeof(T));
      sum = sum + term;
      std::memcpy(dst + i * step, &sum, sizeof(T));
    }
  }
};

// The number that changes nothing when something is added to it, minus zero included: minus zero itself, or zero where
// there is none.
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

template <class T>
struct RowIdentity {
  void operator()(std::byte* dst, const std::byte*, std::int64_t n, std::int64_t step, std::int64_t) const {
    const T value = identity<T>();
    for (std::int64_t i = 0; i < n; ++i) std::memcpy(dst + i * step, &value, sizeof(T));
  }
};

// float8_e8m0fnu has no such number: what is covered already is remembered for each element.
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

// One thread's tile and lists, kept from tile to tile.
struct Scratch {
  std::unique_ptr<std::byte[]> tile;
  std::vector<AxisPart> axes;
  std::vector<TilePart> parts;
  std::vector<char> covered;
};

class TileFiller {
 public:
  TileFiller(const CommonAxes& common, const Grid& grid, const Buckets& buckets, DType dtype, std::int64_t item_size,
             bool disjoint, std::byte* dst, bool streaming)
      : common_(common),
        grid_(grid),
        buckets_(buckets),
        dtype_(dtype),
        item_size_(item_size),
        disjoint_(disjoint),
        dst_(dst),
        streaming_(streaming),
        tile_rank_(common.rank() - std::max(grid.cut, 0)) {}

  void fill(std::int64_t tile, Scratch& scratch) const {
    std::array<std::int64_t, kMaxRank> outer{};
    const std::int64_t run = tile % grid_.runs;
    std::int64_t rest = tile / grid_.runs;
    std::byte* dst = dst_;
    for (int k = grid_.cut - 1; k >= 0; --k) {
      outer[k] = rest % common_.axes[k].extent;
      rest /= common_.axes[k].extent;
      dst += outer[k] * common_.axes[k].dst_stride;
    }
    const Range positions = positions_of(run);
    const std::int64_t elements = (positions.hi - positions.lo) * grid_.inner;
    if (grid_.cut >= 0) dst += positions.lo * common_.axes[grid_.cut].dst_stride;

    const std::int64_t covered = find_parts(outer.data(), run, positions, scratch);
    if (are_runs(scratch)) {
      if (streaming_) return write_runs<StreamWriter>(scratch, dst, elements);
      return write_runs<DirectWriter>(scratch, dst, elements);
    }
    if (covered < elements || !disjoint_) zero_bytes(scratch.tile.get(), elements * item_size_);
    compose(scratch, elements);
    write_out(scratch.tile.get(), dst, positions.hi - positions.lo);
  }

 private:
  Range positions_of(std::int64_t run) const {
    if (grid_.cut < 0) return {0, 1};
    return {run * grid_.run, std::min((run + 1) * grid_.run, common_.axes[grid_.cut].extent)};
  }

  // Collects what falls into the tile; returns how many elements, those taken twice counted twice.
  std::int64_t find_parts(const std::int64_t* outer, std::int64_t run, Range positions, Scratch& scratch) const {
    scratch.axes.clear();
    scratch.parts.clear();
    std::int64_t total = 0;
    for (std::int64_t s : buckets_.candidates(outer, run)) {
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
          const Range taken = taken_inside({part.start, part.step, part.count}, positions);
          part.start += taken.lo * part.step - positions.lo;
          part.count = taken.hi - taken.lo;
          source += taken.lo * part.src_stride;
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
    }
    return total;
  }

  // Whether the tile is zeros and runs of bytes, one after the other: nothing has to be composed.
  bool are_runs(const Scratch& scratch) const {
    if (tile_rank_ != 1 || common_.axes.back().dst_stride != item_size_) return false;
    if (!disjoint_ && scratch.parts.size() > 1) return false;
    return std::all_of(scratch.axes.begin(), scratch.axes.end(), [&](const AxisPart& axis) {
      return axis.count == 1 || (axis.step == 1 && axis.src_stride == item_size_);
    });
  }

  template <class Writer>
  void write_runs(Scratch& scratch, std::byte* dst, std::int64_t elements) const {
    auto& parts = scratch.parts;
    const auto start = [&](const TilePart& part) { return scratch.axes[part.first_axis].start; };
    const auto earlier = [&](const TilePart& a, const TilePart& b) { return start(a) < start(b); };
    if (!std::is_sorted(parts.begin(), parts.end(), earlier)) std::sort(parts.begin(), parts.end(), earlier);
    Writer writer(dst, *active_target().rows);
    std::int64_t written = 0;
    for (const TilePart& part : parts) {
      const AxisPart& axis = scratch.axes[part.first_axis];
      writer.zero((axis.start - written) * item_size_);
      writer.copy(part.source, axis.count * item_size_);
      written = axis.start + axis.count;
    }
    writer.zero((elements - written) * item_size_);
    writer.finish();
  }

  void compose(Scratch& scratch, std::int64_t elements) const {
    if (disjoint_ || scratch.parts.size() <= 1) {
      for (const TilePart& part : scratch.parts) walk(scratch, part, RowCopy{item_size_});
    } else if (dtype_ == DType::Float8E8M0FNU) {
      scratch.covered.assign(static_cast<std::size_t>(elements), 0);
      for (const TilePart& part : scratch.parts) walk(scratch, part, RowCopyOrAdd{scratch.tile.get(), scratch.covered});
    } else {
      visit_addable(dtype_, [&]<class T>() { compose_sums<T>(scratch); });
    }
  }

  // Parts that meet no earlier one are copied. The others are added; where nothing was before, they find the number
  // that changes nothing, which goes in first.
  template <class T>
  void compose_sums(Scratch& scratch) const {
    const auto& parts = scratch.parts;
    std::array<bool, kPairwise> fresh;
    const bool few = parts.size() <= kPairwise;
    for (std::size_t i = 0; i < parts.size(); ++i) {
      const bool is_fresh = i == 0 || (few && meets_none_before(scratch, i));
      if (few) fresh[i] = is_fresh;
      if (!is_fresh) walk(scratch, parts[i], RowIdentity<T>{});
    }
    const RowAdd<T> add{active_target().rows->add[static_cast<int>(dtype_)]};
    for (std::size_t i = 0; i < parts.size(); ++i) {
      if (i == 0 || (few && fresh[i])) {
        walk(scratch, parts[i], RowCopy{item_size_});
      } else {
        walk(scratch, parts[i], add);
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
    walk_axes(scratch.axes.data() + part.first_axis, 0, scratch.tile.get(), part.source, row);
  }

  // The tile is dense: an axis's positions lie as far apart as the axes within are large.
  template <class Row>
  void walk_axes(const AxisPart* axes, int depth, std::byte* dst, const std::byte* src, const Row& row) const {
    if (depth == tile_rank_) return row(dst, src, 1, item_size_, item_size_);
    std::int64_t unit = item_size_;
    for (int k = common_.rank() - 1; k > std::max(grid_.cut, 0) + depth; --k) unit *= common_.axes[k].extent;
    const AxisPart& axis = axes[depth];
    dst += axis.start * unit;
    if (depth == tile_rank_ - 1) return row(dst, src, axis.count, axis.step * unit, axis.src_stride);
    for (std::int64_t i = 0; i < axis.count; ++i) {
      walk_axes(axes, depth + 1, dst + i * axis.step * unit, src + i * axis.src_stride, row);
    }
  }

  // From the dense tile to the destination, which may have gaps.
  void write_out(const std::byte* tile, std::byte* dst, std::int64_t positions) const {
    const int first = std::max(grid_.cut, 0);
    int dense = common_.rank();
    std::int64_t bytes = item_size_;
    while (dense > first && common_.axes[dense - 1].dst_stride == bytes) {
      --dense;
      bytes *= dense == first ? positions : common_.axes[dense].extent;
    }
    write_boxes(tile, dst, first, dense, positions, bytes);
  }

  const std::byte* write_boxes(const std::byte* tile, std::byte* dst, int axis, int dense, std::int64_t extent,
                               std::int64_t bytes) const {
    if (axis == dense) {
      if (streaming_) {
        StreamWriter writer(dst, *active_target().rows);
        writer.copy(tile, bytes);
        writer.finish();
      } else {
        copy_bytes(dst, tile, bytes);
      }
      return tile + bytes;
    }
    for (std::int64_t i = 0; i < extent; ++i) {
      const std::int64_t next = axis + 1 < common_.rank() ? common_.axes[axis + 1].extent : 1;
      tile = write_boxes(tile, dst + i * common_.axes[axis].dst_stride, axis + 1, dense, next, bytes);
    }
    return tile;
  }

  const CommonAxes& common_;
  const Grid& grid_;
  const Buckets& buckets_;
  DType dtype_;
  std::int64_t item_size_;
  bool disjoint_;
  std::byte* dst_;
  bool streaming_;
  int tile_rank_;  // axes from the cut one on
};

}  // namespace

void fill_tiles(const CommonAxes& common, DType dtype, std::int64_t item_size, bool disjoint, std::byte* dst,
                Executor& executor) {
  std::int64_t bytes = item_size;
  for (const auto& axis : common.axes) bytes *= axis.extent;
  if (bytes == 0) return;
  const Grid grid = make_grid(common, item_size);
  const Buckets buckets(common, grid);
  const TileFiller filler(common, grid, buckets, dtype, item_size, disjoint, dst + common.dst_offset,
                          bytes > caches().l3);
  const std::int64_t tile_bytes = grid.run * grid.inner * item_size;
  // A task is a run of tiles that share one scratch.
  const std::int64_t tasks = std::min<std::int64_t>(grid.tiles, 8 * executor.concurrency());
  const auto work = [&](std::int64_t task) {
    Scratch scratch;
    scratch.tile.reset(new std::byte[static_cast<std::size_t>(tile_bytes)]);
    const auto cut = [&](std::int64_t k) { return grid.tiles / tasks * k + grid.tiles % tasks * k / tasks; };
    for (std::int64_t tile = cut(task); tile < cut(task + 1); ++tile) filler.fill(tile, scratch);
  };
  if (grid.tiles == 1) return work(0);
  executor.run(tasks, work);
}

}  // namespace backslice
