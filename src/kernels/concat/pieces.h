// Many pieces of memory, written one after the other.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "execute/task_runner.h"

namespace backslice {

// Bytes from somewhere; zeros where `data` is null.
struct PieceOfBytes {
  const std::byte* data;
  std::int64_t bytes;
};

// Writes them to dst, each byte once, on all threads, past the caches where they are many.
void write_pieces(std::byte* dst, std::span<const PieceOfBytes> pieces, const TaskRunner& runner);

}  // namespace backslice
