// Blocks of memory, from the pool or straight from the system.
#pragma once

#include <cstddef>
#include <cstdint>

#include "backslice/result.h"

namespace backslice {

struct Block {
  std::byte* data = nullptr;
  std::int64_t size = 0;  // what was mapped; at least what was asked for
};

// Below this, memory comes from malloc, and each thread keeps what it released last.
inline constexpr std::int64_t kPooledBytes = 64 << 10;

// Whether the machine has that much memory at all. What it does not have is refused: where the system promises memory
// it does not have, touching it would end the process.
bool fits_machine(std::int64_t bytes);

// The error for memory that could not be had.
Status no_memory(std::int64_t bytes);

// A block with whatever is in it.
Result<Block> acquire_block(std::int64_t bytes);
void release_block(Block block);

// A fresh block: all zero, and no page of it touched yet. Huge pages are not asked for, since a touch would then cost
// the zeroing of 2 MiB.
Result<Block> map_zeroed(std::int64_t bytes);

// Asks for them all the same, in a fresh block that is touched at few places.
void ask_for_huge_pages(std::byte* data, std::int64_t bytes);
void unmap(Block block);

}  // namespace backslice
