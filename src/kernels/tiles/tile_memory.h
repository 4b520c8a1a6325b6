// Memory in which tiles are composed: one block for an operation, with a tile for each of its threads.
#pragma once

#include <algorithm>
#include <mutex>
#include <optional>
#include <vector>

#include "kernels/cpu/kernel_context.h"
#include "kernels/cpu/scratch.h"

namespace backslice {

// A task borrows a tile and gives it back when it ends. The tile given back last is lent first: mostly to the same
// thread, in whose cache it still is.
class TileMemory {
 public:
  // At most `tasks` tiles of that many bytes. None where bytes are 0: then there is nothing to lend.
  TileMemory(std::int64_t tasks, std::int64_t bytes, const KernelContext& context)
      : bytes_(bytes), allocator_(context.allocator) {
    if (bytes == 0) return;
    const std::int64_t tiles = std::min<std::int64_t>(tasks, context.tasks.concurrency());
    const std::int64_t lines = (bytes - 1) / kLine + 1;  // no cache line belongs to two tiles
    const auto all = checked_multiply(tiles, lines);
    if (!all) throw std::bad_alloc();
    block_ = allocate_scratch<Line>(*all, allocator_);
    for (std::int64_t i = tiles; i-- > 0;) free_.push_back(block_->data() + i * lines * kLine);
  }

  class Borrowed {
   public:
    explicit Borrowed(TileMemory& from) : from_(from), tile_(from.take()) {
      if (tile_ != nullptr || from.bytes_ == 0) return;
      own_ = allocate_scratch<std::byte>(from.bytes_, from.allocator_);  // the executor runs more than it said
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

  void give_back(std::byte* tile) noexcept {  // into room that it left
    const std::lock_guard lock(mutex_);
    free_.push_back(tile);
  }

  std::int64_t bytes_;
  Allocator& allocator_;
  std::optional<Buffer> block_;
  std::mutex mutex_;
  std::vector<std::byte*> free_;
};

}  // namespace backslice
