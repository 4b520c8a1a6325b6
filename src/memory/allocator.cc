#include "backslice/allocator.h"

#include <algorithm>
#include <cstdlib>

#include "core/errors.h"
#include "core/faults.h"
#include "memory/block.h"

namespace backslice {
namespace {

// From malloc, which keeps small memory warm by itself.
Result<Buffer> allocate_small(std::int64_t bytes) {
  constexpr std::size_t kAlignment = Allocator::kAlignment;
  const std::size_t rounded = (static_cast<std::size_t>(bytes) + kAlignment) / kAlignment * kAlignment;
  void* data = faults::strikes() ? nullptr : std::aligned_alloc(kAlignment, rounded);
  if (data == nullptr) return no_memory(bytes);
  return Buffer::own(static_cast<std::byte*>(data), [](std::byte* p) { std::free(p); });
}

// Makes the owner of a block; when there is no memory even for that, `release` is called at once.
template <class Release>
Buffer own(Block block, Release release) {
  return Buffer::own(block.data, [block, release](std::byte*) { release(block); });
}

class PoolAllocator final : public Allocator {
 public:
  Result<Buffer> allocate(std::int64_t bytes, Contents contents) override {
    return without_throwing([&]() -> Result<Buffer> {
      if (bytes < 0) return invalid_argument("bytes is ", bytes, ", must be >= 0").at("bytes");
      if (contents == Contents::Zero) {
        const auto block = map_zeroed(std::max<std::int64_t>(bytes, 1));
        if (!block.ok()) return block.status();
        return own(*block, unmap);
      }
      if (bytes < kPooledBytes) return allocate_small(bytes);
      const auto block = acquire_block(bytes);
      if (!block.ok()) return block.status();
      return own(*block, release_block);
    });
  }

  bool has_free_zeros() const override { return true; }
};

}  // namespace

Allocator& pool_allocator() noexcept {
  static PoolAllocator pool;
  return pool;
}

}  // namespace backslice
