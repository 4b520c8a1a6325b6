// Blocks of memory, from the pool or straight from the system.
#pragma once

#include <cstddef>
#include <cstdint>

#include "backslice/result.h"

namespace backslice {

struct Block {
  std::byte* data = nullptr;
  std::int64_t size = 0;  // the mapped size; at least the requested one
};

// Smaller memory comes from malloc, and each thread keeps the memory that it released last.
inline constexpr std::int64_t kPooledBytes = 64 << 10;

// Whether the machine has that much memory at all. Larger requests are refused: the system may promise memory that it
// does not have, and touching it would end the process.
bool fits_machine(std::int64_t bytes);

// Returns the error for a failed allocation.
Status no_memory(std::int64_t bytes);

// Returns a block with unspecified contents.
Result<Block> acquire_block(std::int64_t bytes);
void release_block(Block block);

// Returns a fresh block: all zero, with no page touched yet. It does not request huge pages, since a touch would then
// cost the zeroing of 2 MiB.
Result<Block> map_zeroed(std::int64_t bytes);

// Requests huge pages nevertheless, in a fresh block whose touched places fill them.
void ask_for_huge_pages(std::byte* data, std::int64_t bytes);
void unmap(Block block);

}  // namespace backslice
