/// @file
/// Buffer: memory that is owned and shared. Copies share one block, which goes when the last copy does.
#pragma once

#include <cstddef>
#include <memory>
#include <utility>

#include "backslice/device.h"
#include "backslice/export.h"

namespace backslice {

/// The contents of new memory.
enum class Contents { Uninitialised, Zero };

/// A shared block of memory.
class BACKSLICE_EXPORT Buffer {
 public:
  Buffer() = default;  ///< No memory.

  /// Memory that `owner` keeps alive.
  static Buffer wrap(std::shared_ptr<void> owner, std::byte* data, Device device = {}) {
    return Buffer(std::shared_ptr<std::byte>(std::move(owner), data), device);
  }

  /// Wraps memory. `release` is called when the last copy is destroyed.
  template <class Release>
  static Buffer own(std::byte* data, Release release, Device device = {}) {
    return Buffer(std::shared_ptr<std::byte>(data, std::move(release)), device);
  }

  /// Whether both share one block.
  bool is_same_block(const Buffer& other) const {
    return !block_.owner_before(other.block_) && !other.block_.owner_before(block_);
  }

  /// The Release that was given to own(), if any; else null.
  template <class Release>
  Release* release() const& BACKSLICE_LIFETIME_BOUND {
    return std::get_deleter<Release>(block_);
  }
  template <class Release>
  void release() const&& = delete;  ///< It may go with the memory.

  std::byte* data() const& BACKSLICE_LIFETIME_BOUND { return block_.get(); }
  void data() const&& = delete;  ///< The memory may go with it.
  Device device() const { return device_; }
  long use_count() const { return block_.use_count(); }

 private:
  Buffer(std::shared_ptr<std::byte> block, Device device) : block_(std::move(block)), device_(device) {}

  std::shared_ptr<std::byte> block_;
  Device device_;
};

}  // namespace backslice
