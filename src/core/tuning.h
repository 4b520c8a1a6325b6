// Tuning: the numbers that decide how the CPU kernels run, in one place. They depend on caches and on the cost of
// calls, and were measured on x86-64 with AVX-512. No result depends on them.
#pragma once

#include <cstdint>

namespace backslice {

struct Tuning {
  // -- Threads
  std::int64_t pieces_per_thread = 4;
  std::int64_t asleep = 8;          // times the work that is worth a thread, if threads must be woken
  std::uint32_t tries_asleep = 16;  // one of so many smaller jobs wakes threads for the next ones

  // -- How a result is written
  std::int64_t most_cached = 32 << 20, unknown_cache = 16 << 20;  // bytes of results that stay in the caches
  std::int64_t zero_speed = 8;         // zeros that are written to a cache in the time of one byte that is copied
  std::int64_t mixed_zero_speed = 2;   // the same of zeros between items that are copied
  std::int64_t least_fresh = 2 << 20;  // bytes that are worth fresh zeros
  std::int64_t first_touch = 32;       // how much slower a first touch is than zeroing warm memory
  std::int64_t huge_touch = 24;        // touches of small pages in the time of one of a huge page
  std::int64_t cached_zeros = 256 << 10, string_zeros = 1 << 10;  // bytes of zeros, and of a run, that memset writes
  std::int64_t direct_run = 1 << 10;  // bytes of a run that bypasses the block in which lines are composed

  // -- Calls that make no plan
  std::int64_t small_bytes = 1 << 20, small_zeros = 4 << 20;  // bytes of the result
  std::int64_t small_runs = 32 << 10;                         // in some tens of microseconds
  std::int64_t few_items = 48;                                // a nest takes longer
  std::int64_t prepared_bytes = 8 << 10;

  // -- Nests
  std::int64_t few_runs = 128;       // fewer than these in a plane, and calling the kernel takes longer than they do
  std::int64_t short_row = 4;        // a shorter row is walked across
  std::int64_t far_apart = 1 << 10;  // bytes: the processor reads ahead up to this distance
  std::int64_t lines_in_cache = 2 << 10;            // of the L2 cache
  std::int64_t prefetched = 8 << 20;                // bytes of one side, which the caches do not have
  std::int64_t rows_in_cache = 128;                 // whose lines stay in the L1 cache
  std::int64_t short_items = 16;                    // items of a row that is walked across where no vectors help
  std::int64_t packed_items = 256, few_packed = 8;  // terms that are packed at once
  std::int64_t packed_run = 64;                     // bytes of runs that are
  std::int64_t memory_run = 4 << 10;                // the same of planes beyond the L2 cache
  std::int64_t memcpy_run = 16 << 10;               // bytes that memcpy knows best how to copy
  std::int64_t aligned_sums = 4 << 10;              // bytes of a row of sums that is worth aligning

  // -- Filling
  std::int64_t dense_row = 2 << 10, spread_row = 512;  // bytes of a row that goes through a writer
  std::int64_t line_rows = 512;                        // bytes of rows that are made line by line
  std::int64_t box = 16 << 10, transposed_box = 128 << 10, composed_box = 32 << 10;  // bytes of the destination
  // Selected elements are written twice (zeros first) if they are at most an eighth of all, or a half if zeros are
  // written without reading the memory first; and if they come in short runs.
  std::int64_t sparse = 8, slow_zeros = 1 << 20, zero_run = 1 << 10, long_run = 4 << 10;

  // -- Many slices
  std::int64_t tile = 128 << 10;     // bytes: half of a small L2 cache: the tile, and what flows into it
  std::int64_t short_gap = 4 << 10;  // bytes of zeros that cost less to write than to skip

  // -- Sparse rows
  std::int64_t row_work = 32;      // bytes that could be written while a row is looked at
  std::int64_t table_rows = 8192;  // rows of the slice in one partition of a join: the table stays in the L2 cache
  std::int64_t copied_rows = 6;    // copied as one; shorter runs row by row, since their ends are hard to foresee
  std::int64_t followed_rows = 8;  // rows of a run that is followed, with the gap after it
};

inline constexpr Tuning kTuning;

}  // namespace backslice
