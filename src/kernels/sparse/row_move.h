// RowMove: how a row of values is moved by a GPU, as a plain value that kernels take.
//
// A row is `chunks` pieces of one width. Where rows are dense, they follow each other; else nested loops say where each
// lies. Kernels make one thread per chunk.
#pragma once

#include <cstddef>
#include <cstdint>

#include "kernels/cuda/portable.h"

namespace backslice::cuda {

inline constexpr int kMaxRowLoops = 32;

// Where a chunk lies in its row, on both sides.
struct ChunkPlace {
  std::int64_t to, from;
};

struct RowMove {
  std::byte* to;
  const std::byte* from;
  std::int64_t to_row, from_row;  // bytes from one row to the next
  std::int64_t chunks;            // per row
  int width;                      // of a chunk, in bytes
  bool is_aligned;                // to its width; always where nothing is added
  int loops;                      // innermost first
  std::int64_t extent[kMaxRowLoops], to_stride[kMaxRowLoops], from_stride[kMaxRowLoops];

  BACKSLICE_HD ChunkPlace place(std::int64_t chunk) const {
    ChunkPlace place{0, 0};
    for (int i = 0; i < loops; ++i) {
      const std::int64_t rest = i + 1 == loops ? 0 : chunk / extent[i];
      const std::int64_t at = chunk - rest * extent[i];
      place.to += at * to_stride[i];
      place.from += at * from_stride[i];
      chunk = rest;
    }
    return place;
  }
};

}  // namespace backslice::cuda
