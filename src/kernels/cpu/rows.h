// The row kernels: the innermost loops, compiled with Highway once for each SIMD target.
//
// A row kernel knows widths and bytes, and no plans.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>

#include "backslice/dtype.h"
#include "core/items.h"
#include "core/tuning.h"

namespace backslice {

using SpreadRow = void (*)(std::byte* dst, const std::byte* src, std::int64_t count, std::int64_t step,
                           std::int64_t src_stride);
using StreamRow = void (*)(std::byte* dst, const std::byte* src, std::int64_t bytes);
using ExpandRow = void (*)(std::byte* dst, const std::byte* src, std::int64_t src_count, const std::uint64_t* words,
                           std::int64_t count);
using AddRow = void (*)(std::byte* dst, const std::byte* src, std::int64_t count);

// Adjacent rows, each of zeros except one run of bytes.
struct ShortRows {
  std::int64_t rows, row_bytes;
  std::int64_t run_start, run_bytes;  // within each row
  std::int64_t src_stride;            // bytes from one run to the next in the source
};

// Two axes of runs of bytes, on two sides.
struct Plane {
  std::int64_t rows = 1, row_dst = 0, row_src = 0;         // how many, and how many bytes apart they begin
  std::int64_t count = 1, dst_stride = 0, src_stride = 0;  // number of runs in a row
};

// One way to move the runs of a plane.
struct MoveVariant {
  const char* name;
  bool (*can_run)(const Plane& plane, std::int64_t run);  // depends only on strides, not on extents
  void (*run)(std::byte* dst, const std::byte* src, const Plane& plane, std::int64_t run);
  bool is_general = false;  // runs any plane, item by item
};

// Adds a plane to another; runs have that many elements.
using AddPlane = void (*)(std::byte* dst, const std::byte* src, const Plane& plane, std::int64_t run);

inline constexpr std::int64_t kLine = 64;  // bytes of a cache line

// -- Rows of sparse indices: the box that contains the rows of a list, and the rows in a box
//
// A row has one index per axis. Vectors handle rows of up to four axes that are packed, or in one dense list per axis.
// All other rows are handled one by one, elsewhere.

inline constexpr int kMostVectorAxes = 4;

// The addresses of the first row's indices, by axis.
struct IndexPointers {
  const std::byte* axis[kMostVectorAxes];
};

// low <= index <= high on each axis, in the range of the indices' type. No box is empty.
struct IndexBox {
  std::int64_t low[kMostVectorAxes], high[kMostVectorAxes];
};

// The result for rows is bits, a word for 64 rows: bit i % 64 of word i / 64 belongs to row i.
inline constexpr std::int64_t kWordRows = 64;

// Number of set bits, and of their runs.
struct SetBits {
  std::int64_t count = 0, runs = 0;
  std::uint64_t last = 0;  // the last bit

  void add(std::uint64_t word) {
    count += std::popcount(word);
    runs += std::popcount(word & ~(word << 1 | last));
    last = word >> (kWordRows - 1);
  }
};

// The reason why two lists diverge.
enum class Parted {
  NotYet,
  Ended,       // the other list has no more rows
  Differ,      // a row in the box is not the next one of the other list
  OutsideBox,  // the next row of the other list lies outside the box
};

// How far two lists agree, in whole words, and the number of common rows until then.
struct Followed {
  std::int64_t rows = 0;
  Parted parted = Parted::NotYet;
  SetBits found;
};

struct IndexKernels {
  // Writes the words of these rows: a bit is set if its row is in the box.
  SetBits (*inside)(IndexPointers rows, std::int64_t count, const IndexBox& box, std::uint64_t* words);

  // The same until the lists diverge: as long as the rows in the box are, one by one, those of the other list plus
  // start, and the next of those is in the box too. Then rows outside the box are not in the other list, for any box.
  // Preconditions: all of the box minus start is in the range of the indices; the first of the others, plus start, is
  // in the box.
  Followed (*follow)(IndexPointers rows, std::int64_t count, IndexPointers others, std::int64_t others_count,
                     const IndexBox& box, const std::int64_t* start, std::uint64_t* words);

  // Computes the smallest box of these rows. Precondition: there is one.
  IndexBox (*bounds)(IndexPointers rows, std::int64_t count);
};

// By the lists' layout, then by the number of axes minus one.
struct IndexKernelTable {
  IndexKernels packed[kMostVectorAxes], columns[kMostVectorAxes];
};

// -- The table of all row kernels

struct RowKernels {
  // Divides kLine, so that streaming stores, which write whole vectors, write whole lines.
  std::int64_t vector_bytes;

  // For items of 1, 2, 4, 8 and 16 bytes: copies `count` items, src_stride bytes apart, to every step-th item of dst,
  // and zeroes the items between them. dst is dense; (count - 1) * step + 1 items are written, by ordinary stores.
  SpreadRow spread[5];

  // For runs of 1, 2, 4, 8, 16 and other numbers of bytes, best first; the last one runs any plane.
  std::span<const MoveVariant> moves[6];

  // For items of 4 and 8 bytes, if the target has a fast way, else null: writes `count` items, the next one of src for
  // each set bit, else zero. Bit i % 64 of words[i / 64] belongs to item i; src has at least as many items as there are
  // set bits, and src_count of them can be read.
  ExpandRow expand[5];

  // Zeros by ordinary vector stores.
  void (*zero)(std::byte* dst, std::int64_t bytes);

  // Zeros by the fastest way, for a part of so many bytes. The string instructions of memset do not read the memory
  // first, but are slow to start, and slow within the L2 cache.
  void write_zeros(std::byte* dst, std::int64_t bytes, std::int64_t of) const {
    if (of <= kTuning.cached_zeros || bytes < kTuning.string_zeros) return zero(dst, bytes);
    std::memset(dst, 0, static_cast<std::size_t>(bytes));
  }

  // Non-temporal: dst is aligned to kLine and bytes is a multiple of it. After the last one, call fence().
  void (*stream_copy)(std::byte* dst, const std::byte* src, std::int64_t bytes);
  void (*stream_zero)(std::byte* dst, std::int64_t bytes);
  // Zeros that bypass the caches, from any address.
  void stream_zeros(std::byte* dst, std::int64_t bytes) const {
    const auto ahead = static_cast<std::int64_t>(-reinterpret_cast<std::uintptr_t>(dst) % kLine);
    if (bytes < ahead + kLine) return zero(dst, bytes);
    zero(dst, ahead);
    const std::int64_t whole = (bytes - ahead) / kLine * kLine;
    stream_zero(dst + ahead, whole);
    zero(dst + ahead + whole, bytes - ahead - whole);
  }
  // Writes all rows, each line composed in a register; row_bytes is a multiple of kLine.
  void (*stream_rows)(std::byte* dst, const std::byte* src, const ShortRows& rows);
  // For items of 1, 2, 4, 8 and 16 bytes: src is the source of the first one, and the others lie before it.
  StreamRow stream_reversed[5];
  // For items of 1, 2 and 4 bytes, null for wider ones: items alternate with zeros; src is dense.
  StreamRow stream_spaced[5];
  void (*fence)();

  // dst[i] += src[i] for dense rows, by the rule on sums. Null for dtypes without a vector form.
  AddRow add[64];  // by DType

  // The same for any strides.
  AddPlane add_plane[64];

  IndexKernelTable indices32, indices64;  // of int32 and int64
};

// Returns the index of an item size in RowKernels::spread, or -1.
constexpr int width_index(std::int64_t item_size) {
  switch (item_size) {
    case 1: return 0;
    case 2: return 1;
    case 4: return 2;
    case 8: return 3;
    case 16: return 4;
    default: return -1;
  }
}

// Returns the first variant that can run the plane.
const MoveVariant& move_variant(const RowKernels& rows, const Plane& plane, std::int64_t run);

// Returns the addition of dense rows: by vectors if the dtype has them, else element by element; null if elements
// cannot be added.
inline AddRow addition_of(DType dtype, const RowKernels& rows) {
  const AddRow by_vectors = rows.add[static_cast<int>(dtype)];
  return by_vectors != nullptr ? by_vectors : operations_of(dtype).add;
}

}  // namespace backslice
