#include "backslice/allocator.h"

#include <algorithm>
#include <cstdlib>
#include <utility>

#include "core/errors.h"
#include "core/faults.h"
#include "memory/block.h"

namespace backslice {
namespace {

// Not under the address sanitizer, which then finds uses after the release.
#if defined(__SANITIZE_ADDRESS__)
constexpr bool kKeepsSmall = false;
#elif defined(__has_feature)
constexpr bool kKeepsSmall = !__has_feature(address_sanitizer);
#else
constexpr bool kKeepsSmall = true;
#endif

// The small memory that a thread released last, for its next request: malloc takes as long for some kilobytes as a
// gradient takes to fill them. It is freed when the thread ends.
class LastReleased {
 public:
  // Returns null if the memory is too small, or more than twice as large as requested.
  static std::byte* take(std::size_t size) noexcept {
    if (is_over) return nullptr;
    LastReleased& own = of_thread();
    if (own.size_ < size || own.size_ / 2 > size) return nullptr;
    own.size_ = 0;
    return std::exchange(own.data_, nullptr);
  }

  static void put(std::byte* data, std::size_t size) noexcept {
    if (!kKeepsSmall || is_over) return std::free(data);
    LastReleased& own = of_thread();
    std::free(std::exchange(own.data_, data));
    own.size_ = size;
  }

 private:
  ~LastReleased() {
    is_over = true;
    std::free(data_);
  }
  static LastReleased& of_thread() noexcept {
    thread_local LastReleased own;
    return own;
  }

  static thread_local bool is_over;  // objects of the thread that are destroyed later may still have memory
  std::byte* data_ = nullptr;
  std::size_t size_ = 0;
};

thread_local bool LastReleased::is_over = false;

Result<Buffer> allocate_small(std::int64_t bytes) {
  constexpr std::size_t kAlignment = Allocator::kAlignment;
  const std::size_t size = (static_cast<std::size_t>(bytes) + kAlignment) / kAlignment * kAlignment;
  if (faults::strikes()) return no_memory(bytes);
  std::byte* data = LastReleased::take(size);
  if (data == nullptr) data = static_cast<std::byte*>(std::aligned_alloc(kAlignment, size));
  if (data == nullptr) return no_memory(bytes);
  return Buffer::own(data, [size](std::byte* p) { LastReleased::put(p, size); });
}

// Makes the owner of a block. If there is no memory for the owner, `release` is called at once.
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
