// What fork() means for this library.
//
// A child has one thread: the one that forked. The work of the other threads is half done, and the locks that they held
// stay held. So every object that threads share remembers the process in which it was acquired. A child gets an error
// where it would otherwise wait forever.
#pragma once

#include <atomic>
#include <cstdint>

namespace backslice {

// Number of forks of this process and its ancestors: different in every child.
std::uint32_t fork_generation() noexcept;

// Number of the mutexes below that this thread holds, in builds with assertions. No lock of ours is held while code of
// a user or of another library runs (executors, allocators, deleters, cancellation, callbacks). That code may use the
// same object, on this thread or on one that this thread waits for.
#ifdef NDEBUG
inline void count_held_lock(int) noexcept {}
inline void check_no_lock_is_held() noexcept {}
#else
void count_held_lock(int change) noexcept;
void check_no_lock_is_held() noexcept;
#endif

// A mutex for std::lock_guard. lock() throws a StatusException (FailedPrecondition) in a child if the mutex is held by
// a thread that the child does not have.
class ForkAwareMutex {
 public:
  void lock() {
    acquire();
    count_held_lock(1);
  }
  void unlock() noexcept {
    count_held_lock(-1);
    release();
  }

 protected:
  void acquire();
  bool try_acquire() noexcept {
    std::uint32_t expected = kFree;
    return holder_.compare_exchange_strong(expected, fork_generation() + 1, std::memory_order_acquire);
  }
  void release() noexcept {
    holder_.store(kFree, std::memory_order_release);
    holder_.notify_one();
  }

 private:
  static constexpr std::uint32_t kFree = 0;
  std::atomic<std::uint32_t> holder_ = kFree;  // or the holder's generation, plus one
};

// The same for calls that take turns with an object, and run no code meanwhile that could need the same lock.
class ForkAwareTurns : private ForkAwareMutex {
 public:
  void lock() { acquire(); }
  bool try_lock() noexcept { return try_acquire(); }
  void unlock() noexcept { release(); }
};

// The same for std::shared_lock and std::unique_lock. Threads that only shared it, and that the child does not have, do
// not keep the child's threads from sharing it.
class ForkAwareSharedMutex {
 public:
  void lock();
  void unlock() noexcept;
  void lock_shared();
  void unlock_shared() noexcept;

 private:
  std::atomic<std::uint64_t> state_ = 0;  // the holders, and the generation of the first
};

}  // namespace backslice
