/// @file
/// Buffer: memory that is owned and shared. Copies share one block, which goes when the last copy does.
#pragma once

#include <cstddef>
#include <memory>
#include <utility>

#include "backslice/export.h"

namespace backslice {

/// What new memory holds.
enum class Contents { Uninitialised, Zero };

/// A shared block of memory.
class BACKSLICE_EXPORT Buffer {
 public:
  Buffer() = default;  ///< No memory.

  /// Memory that `owner` keeps alive.
  static Buffer wrap(std::shared_ptr<void> owner, std::byte* data) {
    return Buffer(std::shared_ptr<std::byte>(std::move(owner), data));
  }

  /// Memory that `release` gives back when the last copy goes.
  template <class Release>
  static Buffer own(std::byte* data, Release release) {
    return Buffer(std::shared_ptr<std::byte>(data, std::move(release)));
  }

  /// Whether both are the same block.
  bool is_same_block(const Buffer& other) const {
    return !block_.owner_before(other.block_) && !other.block_.owner_before(block_);
  }

  std::byte* data() const { return block_.get(); }
  long use_count() const { return block_.use_count(); }

 private:
  explicit Buffer(std::shared_ptr<std::byte> block) : block_(std::move(block)) {}

  std::shared_ptr<std::byte> block_;
};

}  // namespace backslice
