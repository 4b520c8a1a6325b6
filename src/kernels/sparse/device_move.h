// The work of one thread that moves, adds or writes found rows, for kernels and for tests on the CPU.
//
// One thread handles a chunk of a row, or several. Threads are identified by the number of their block and that within
// it.
#pragma once

#include <cstddef>
#include <cstdint>

#include "backslice/coo_indices.h"
#include "backslice/view.h"
#include "kernels/cuda/addition.h"
#include "kernels/cuda/portable.h"
#include "kernels/cuda/positions.h"
#include "kernels/sparse/device_found.h"

namespace backslice::cuda {

// -- RowMove: how a row of values is moved, as a plain value that kernels take.
//
// A row is `chunks` pieces of one width. Dense rows are adjacent; for others, nested loops give the position of each
// chunk. Kernels run one thread per chunk.

inline constexpr int kMaxRowLoops = 32;

// The position of a chunk in its row, on both sides.
struct ChunkPlace {
  std::int64_t to, from;
};

struct RowMove {
  std::byte* to;
  const std::byte* from;
  std::int64_t to_row, from_row;  // bytes from one row to the next
  std::int64_t chunks;            // per row
  int width;                      // of a chunk, in bytes
  int loops;                      // outermost first
  WideDivisor extent[kMaxRowLoops];
  std::int64_t to_stride[kMaxRowLoops], from_stride[kMaxRowLoops];

  BACKSLICE_HD ChunkPlace place(std::int64_t chunk) const {
    ChunkPlace place{0, 0};
    const auto extent_of = [this](int i) -> const WideDivisor& { return extent[i]; };
    for_each_position(loops, chunk, extent_of, [&](int i, std::int64_t position) {
      place.to += position * to_stride[i];
      place.from += position * from_stride[i];
      return true;
    });
    return place;
  }
};

// Number of rows. Found rows past the end of the slice do not count.
struct SliceRows {
  std::int64_t input, slice;
};

enum class Moves {
  RowsAndZeros,  // input rows from those of the slice, zeros for the others
  RowsOnly,      // the same, and others are left alone
  ToSlice,       // rows of the slice from those of the input
};

// The destination of indices.
struct IndexMatrix {
  std::byte* data;
  std::int64_t row_stride, column_stride;
};

inline constexpr int kChunkThreads = 256, kChunksPerThread = 8;

// One more than CUDA accepts if there are too many chunks, as broadcast rows may have, so that the launch fails.
inline unsigned blocks_for_chunks(std::int64_t rows, std::int64_t chunks) {
  constexpr std::int64_t kPerBlock = kChunkThreads * kChunksPerThread, kTooMany = std::int64_t{1} << 31;
  std::int64_t all;
  if (__builtin_mul_overflow(rows, chunks, &all)) return kTooMany;
  const std::int64_t blocks = all / kPerBlock + (all % kPerBlock != 0);
  return static_cast<unsigned>(blocks < kTooMany ? blocks : kTooMany);
}

// The first chunk of a thread; the next ones are kChunkThreads apart.
BACKSLICE_HD std::int64_t first_chunk(unsigned block, unsigned thread) {
  return std::int64_t{block} * kChunkThreads * kChunksPerThread + thread;
}

// Calls body(row, slice row or kNoSliceRow, chunk) for the chunks of a thread.
template <class Body>
BACKSLICE_HD void for_each_chunk(const Found& found, const SliceRows& rows, std::int64_t chunks, unsigned block,
                                 unsigned thread, const Body& body) {
  const std::int64_t first = first_chunk(block, thread);
  BACKSLICE_UNROLL
  for (int k = 0; k < kChunksPerThread; ++k) {
    const std::int64_t unit = first + k * kChunkThreads, row = WideDivisor{chunks}.quotient(unit);
    if (row >= rows.input) return;
    const std::int64_t slice_row = found.slice_row(row);
    body(row, slice_row < rows.slice ? slice_row : kNoSliceRow, unit - row * chunks);
  }
}

template <int kBytes>
BACKSLICE_HD void move_chunks(const RowMove& move, const Found& found, const SliceRows& rows, Moves moves,
                              unsigned block, unsigned thread) {
  const auto body = [&](std::int64_t row, std::int64_t slice_row, std::int64_t chunk) {
    const bool is_found = slice_row != kNoSliceRow;
    if (!is_found && moves != Moves::RowsAndZeros) return;
    const ChunkPlace place = move.place(chunk);
    const std::int64_t to_row = moves == Moves::ToSlice ? slice_row : row;
    const std::int64_t from_row = moves == Moves::ToSlice ? row : slice_row;
    Item<kBytes> item{};
    if (is_found) item = load<kBytes>(move.from + from_row * move.from_row + place.from);
    store<kBytes>(move.to + to_row * move.to_row + place.to, item);
  };
  for_each_chunk(found, rows, move.chunks, block, thread, body);
}

// The same for rows of one chunk: a thread reads everything for several rows before it writes the first.
template <int kBytes>
BACKSLICE_HD void move_single_chunks(const RowMove& move, const Found& found, const SliceRows& rows, Moves moves,
                                     unsigned block, unsigned thread) {
  const std::int64_t first = first_chunk(block, thread);
  std::int64_t slice_row[kChunksPerThread];
  Item<kBytes> items[kChunksPerThread];
  BACKSLICE_UNROLL
  for (int k = 0; k < kChunksPerThread; ++k) {
    const std::int64_t row = first + k * kChunkThreads;
    slice_row[k] = row < rows.input ? found.slice_row(row) : kNoSliceRow;
  }
  BACKSLICE_UNROLL
  for (int k = 0; k < kChunksPerThread; ++k) {
    if (slice_row[k] >= rows.slice) slice_row[k] = kNoSliceRow;
    const std::int64_t from = moves == Moves::ToSlice ? first + k * kChunkThreads : slice_row[k];
    items[k] = {};
    if (slice_row[k] != kNoSliceRow) items[k] = load<kBytes>(move.from + from * move.from_row);
  }
  BACKSLICE_UNROLL
  for (int k = 0; k < kChunksPerThread; ++k) {
    const std::int64_t row = first + k * kChunkThreads, to = moves == Moves::ToSlice ? slice_row[k] : row;
    const bool writes = slice_row[k] != kNoSliceRow || (moves == Moves::RowsAndZeros && row < rows.input);
    if (writes) store<kBytes>(move.to + to * move.to_row, items[k]);
  }
}

// -- The same for dense rows of a few bytes, with zeros between them: a thread writes sixteen bytes at once.

inline constexpr int kDenseVectors = 4;  // per thread

inline unsigned blocks_for_dense(std::int64_t rows, int width) {
  const std::int64_t per_block = kChunkThreads * kDenseVectors * (16 / width);
  return static_cast<unsigned>((rows + per_block - 1) / per_block);
}

template <int kBytes>
BACKSLICE_HD void move_dense(const RowMove& move, const Found& found, const SliceRows& rows, unsigned block,
                             unsigned thread) {
  constexpr int kRows = 16 / kBytes;
  const std::int64_t first = (std::int64_t{block} * kChunkThreads * kDenseVectors + thread) * kRows;
  std::uint32_t bits[kDenseVectors];
  const std::byte* from[kDenseVectors];
  BACKSLICE_UNROLL
  for (int v = 0; v < kDenseVectors; ++v) {  // none of them crosses a word
    const std::int64_t row = first + v * kChunkThreads * kRows;
    bits[v] = 0;
    from[v] = nullptr;
    if (row >= rows.input) continue;
    const std::int64_t word = row / kWordRows32;
    const int bit = static_cast<int>(row % kWordRows32);
    const std::uint32_t all = found.words[word];
    const std::int64_t next = found.first_of(word) + count_bits(all & ((std::uint32_t{1} << bit) - 1));
    bits[v] = all >> bit & ((std::uint32_t{1} << kRows) - 1);
    while (bits[v] != 0 && next + count_bits(bits[v]) > rows.slice) bits[v] &= ~(std::uint32_t{1} << last_bit(bits[v]));
    from[v] = move.from + next * move.from_row;
  }
  Vector vectors[kDenseVectors];
  BACKSLICE_UNROLL
  for (int v = 0; v < kDenseVectors; ++v) {
    BACKSLICE_UNROLL
    for (int k = 0; k < kRows; ++k) {
      if ((bits[v] >> k & 1) == 0) continue;
      put<kBytes>(vectors[v], static_cast<unsigned>(k), load<kBytes>(from[v]));
      from[v] += move.from_row;
    }
  }
  BACKSLICE_UNROLL
  for (int v = 0; v < kDenseVectors; ++v) {
    const std::int64_t row = first + v * kChunkThreads * kRows;
    if (row + kRows <= rows.input) {
      store<16>(move.to + row * kBytes, vectors[v]);
      continue;
    }
    BACKSLICE_UNROLL
    for (int k = 0; k < kRows; ++k) {
      if (row + k < rows.input) {
        store<kBytes>(move.to + (row + k) * kBytes, item_of<kBytes>(vectors[v], static_cast<unsigned>(k)));
      }
    }
  }
}

// -- The variants that move rows, best first: dispatch and tests walk them

enum class MoveWay { Dense, Single, Chunks };

struct MoveVariant {
  MoveWay way;
  int width;  // of a chunk, in bytes

  bool can_run(const RowMove& move, const Found& found, Moves moves) const {
    if (move.width != width || (way != MoveWay::Chunks && move.chunks != 1)) return false;
    if (way != MoveWay::Dense) return true;
    return found.joined == nullptr && moves == Moves::RowsAndZeros && move.to_row == width &&
           address(move.to) % 16 == 0;
  }
};

inline constexpr MoveVariant kMoveVariants[] = {
    {MoveWay::Dense, 8},  {MoveWay::Dense, 4},  {MoveWay::Dense, 2},  {MoveWay::Single, 16}, {MoveWay::Single, 8},
    {MoveWay::Single, 4}, {MoveWay::Single, 2}, {MoveWay::Single, 1}, {MoveWay::Chunks, 16}, {MoveWay::Chunks, 8},
    {MoveWay::Chunks, 4}, {MoveWay::Chunks, 2}, {MoveWay::Chunks, 1},
};

// Returns the best variant that can run, from `from` on; there is always one.
inline const MoveVariant& move_variant(const RowMove& move, const Found& found, Moves moves,
                                       MoveWay from = MoveWay::Dense) {
  return first_of(kMoveVariants, [&](const MoveVariant& variant) {
    return variant.way >= from && variant.can_run(move, found, moves);
  });
}

// -- Sums and indices

// Adds rows of the slice to those of the input.
template <int kBytes>
BACKSLICE_HD void add_chunks(const RowMove& move, const Found& found, const SliceRows& rows, const Addition& addition,
                             unsigned block, unsigned thread) {
  const auto body = [&](std::int64_t row, std::int64_t slice_row, std::int64_t chunk) {
    if (slice_row == kNoSliceRow) return;
    const ChunkPlace place = move.place(chunk);
    std::byte* to = move.to + row * move.to_row + place.to;
    const std::byte* from = move.from + slice_row * move.from_row + place.from;
    store_item<kBytes>(to, sums_of<kBytes>(addition, load_item<kBytes>(to), load_item<kBytes>(from)));
  };
  for_each_chunk(found, rows, move.chunks, block, thread, body);
}

// Writes the indices of the slice: those of the input minus start. Unsigned, so that nothing overflows.
template <class Read, class Index>
BACKSLICE_HD void write_slice_indices(const Lists& lists, const Found& found, const SliceRows& rows,
                                      const IndexMatrix& to, unsigned block, unsigned thread) {
  const auto body = [&](std::int64_t row, std::int64_t slice_row, std::int64_t axis) {
    if (slice_row == kNoSliceRow) return;
    const auto column = static_cast<int>(axis);
    const auto index = static_cast<std::uint64_t>(index_at<Read>(lists.input, row, column)) -
                       static_cast<std::uint64_t>(lists.start.of[column]);
    store_item<sizeof(Index)>(to.data + slice_row * to.row_stride + axis * to.column_stride, static_cast<Index>(index));
  };
  for_each_chunk(found, rows, lists.input.rank, block, thread, body);
}

// -- Arguments of kernels, made from indices and views

// Precondition: both have one dtype and rank, and `start` has that rank.
Lists lists_of(const CooIndices& input, Ints start, const CooIndices& output);

// Returns how rows are moved, in chunks of at least that width.
RowMove row_move(const View& to, const ConstView& from, int least_width = 1);

}  // namespace backslice::cuda
