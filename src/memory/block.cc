#include "memory/block.h"

#include <pthread.h>
#include <sys/mman.h>
#include <unistd.h>

#include <list>
#include <mutex>

#include "backslice/buffer_pool.h"
#include "core/errors.h"
#include "core/faults.h"

namespace backslice {
namespace {

constexpr std::int64_t kHugePage = 2 << 20;

std::int64_t machine_memory() {
  static const std::int64_t bytes = static_cast<std::int64_t>(sysconf(_SC_PHYS_PAGES)) * sysconf(_SC_PAGESIZE);
  return bytes;
}

// Precondition: bytes is at most the machine's memory, so that nothing overflows.
std::int64_t rounded_up(std::int64_t bytes, std::int64_t unit) { return (bytes + unit - 1) / unit * unit; }

Result<std::byte*> map(std::int64_t bytes) {
  if (fits_machine(bytes) && !faults::strikes()) {
    void* data =
        mmap(nullptr, static_cast<std::size_t>(bytes), PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (data != MAP_FAILED) return static_cast<std::byte*>(data);
  }
  return no_memory(bytes);
}

// Maps more than needed, and unmaps the memory before and after the aligned part.
Result<Block> map_aligned_huge(std::int64_t bytes) {
  const auto mapped = map(bytes + kHugePage);
  if (!mapped.ok()) return mapped.status();
  const auto address = reinterpret_cast<std::uintptr_t>(*mapped);
  const auto before = static_cast<std::int64_t>((kHugePage - address % kHugePage) % kHugePage);
  if (before > 0) munmap(*mapped, static_cast<std::size_t>(before));
  std::byte* data = *mapped + before;
  if (before < kHugePage) munmap(data + bytes, static_cast<std::size_t>(kHugePage - before));
  ask_for_huge_pages(data, bytes);
  return Block{data, bytes};
}

Result<Block> map_block(std::int64_t bytes) {
  if (bytes >= kHugePage) return map_aligned_huge(bytes);
  const auto data = map(bytes);
  if (!data.ok()) return data.status();
  return Block{*data, bytes};
}

class Pool {
 public:
  static Pool& instance() {
    static auto* self = new Pool;  // never destroyed: results may outlive everything else
    return *self;
  }

  Result<Block> acquire(std::int64_t bytes) {
    if (!fits_machine(bytes)) return no_memory(bytes);
    bytes = rounded_up(bytes, bytes >= kHugePage ? kHugePage : kPooledBytes);
    {
      const std::lock_guard lock(mutex_);
      if (const auto found = find(bytes); found != kept_.end()) {
        const Block block = *found;
        kept_.erase(found);
        stats_.bytes_kept -= block.size;
        stats_.bytes_in_use += block.size;
        ++stats_.reused;
        return block;
      }
    }
    auto block = map_block(bytes);
    if (!block.ok()) {  // the kept blocks may be the missing memory
      trim(0);
      block = map_block(bytes);
    }
    if (block.ok()) {
      const std::lock_guard lock(mutex_);
      stats_.bytes_in_use += block->size;
      ++stats_.mapped;
    }
    return block;
  }

  // Called when owners are destroyed: it cannot fail.
  void release(Block block) noexcept {
    std::unique_lock lock(mutex_);
    stats_.bytes_in_use -= block.size;
    if (block.size <= stats_.limit && keep(block)) return;
    lock.unlock();
    unmap(block);
  }

  void trim(std::int64_t bytes) {
    const std::lock_guard lock(mutex_);
    make_room(bytes);
  }

  void set_limit(std::int64_t limit) {
    const std::lock_guard lock(mutex_);
    stats_.limit = limit;
    make_room(limit);
  }

  PoolStats stats() {
    const std::lock_guard lock(mutex_);
    return stats_;
  }

 private:
  Pool() {
    stats_.limit = machine_memory() / 4;
    // Held across a fork, so that a child never finds the lock held by a thread that it does not have.
    pthread_atfork([] { instance().mutex_.lock(); }, [] { instance().mutex_.unlock(); },
                   [] { instance().mutex_.unlock(); });
  }

  // Returns false if there is no memory for the list.
  bool keep(Block block) noexcept {
    make_room(stats_.limit - block.size);
    try {
      kept_.push_back(block);
    } catch (const std::bad_alloc&) {
      return false;
    }
    stats_.bytes_kept += block.size;
    return true;
  }

  // Finds the latest kept block that fits and wastes at most an eighth.
  std::list<Block>::iterator find(std::int64_t bytes) {
    for (auto it = kept_.end(); it != kept_.begin();) {
      --it;
      if (it->size >= bytes && it->size <= bytes + bytes / 8) return it;
    }
    return kept_.end();
  }

  // Frees the oldest blocks until at most `bytes` are kept.
  void make_room(std::int64_t bytes) {
    while (stats_.bytes_kept > bytes) {
      stats_.bytes_kept -= kept_.front().size;
      unmap(kept_.front());
      kept_.pop_front();
    }
  }

  std::mutex mutex_;
  std::list<Block> kept_;  // oldest first
  PoolStats stats_;
};

}  // namespace

bool fits_machine(std::int64_t bytes) { return bytes <= machine_memory(); }

Status no_memory(std::int64_t bytes) { return resource_exhausted("could not allocate ", bytes, " bytes"); }

Result<Block> acquire_block(std::int64_t bytes) { return Pool::instance().acquire(bytes); }
void release_block(Block block) { Pool::instance().release(block); }

Result<Block> map_zeroed(std::int64_t bytes) {
  const auto data = map(bytes);
  if (!data.ok()) return data.status();
  madvise(*data, static_cast<std::size_t>(bytes), MADV_NOHUGEPAGE);
  return Block{*data, bytes};
}

void ask_for_huge_pages(std::byte* data, std::int64_t bytes) {
  madvise(data, static_cast<std::size_t>(bytes), MADV_HUGEPAGE);  // if the system refuses, small pages will do
}

void unmap(Block block) { munmap(block.data, static_cast<std::size_t>(block.size)); }

PoolStats pool_stats() { return Pool::instance().stats(); }

Status set_pool_limit(std::int64_t bytes) {
  return without_throwing([&]() -> Status {
    if (bytes < 0) return invalid_argument("bytes is ", bytes, ", must be >= 0").at("bytes");
    Pool::instance().set_limit(bytes);
    return Status();
  });
}

void trim_pool() { Pool::instance().trim(0); }

}  // namespace backslice
