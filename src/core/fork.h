// What fork() means for this library.
//
// A child has one thread: the one that forked. What the others were doing is half done, and the locks they held stay
// held. So everything that threads share knows in which process it was taken hold of, and a child is told, where it
// would otherwise wait for ever.
#pragma once

#include <atomic>
#include <cstdint>

namespace backslice {

// How often this process and those before it were forked: another number in every child.
std::uint32_t fork_generation() noexcept;

// How many of the mutexes below this thread holds, in builds with assertions. No lock of ours is held while code of a
// user or of another library runs, since that may use the same object, on this thread or on one that this thread waits
// for: executors, allocators, deleters, cancellation, callbacks.
#ifdef NDEBUG
inline void count_held_lock(int) noexcept {}
inline void check_no_lock_is_held() noexcept {}
#else
void count_held_lock(int change) noexcept;
void check_no_lock_is_held() noexcept;
#endif

// A mutex for std::lock_guard. lock() throws a StatusException (FailedPrecondition) in a child where a thread that is
// not there holds it.
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

// The same for calls that take turns with an object, and run no code that could want one.
class ForkAwareTurns : private ForkAwareMutex {
 public:
  void lock() { acquire(); }
  bool try_lock() noexcept { return try_acquire(); }
  void unlock() noexcept { release(); }
};

// The same for std::shared_lock and std::unique_lock. Threads that only shared it, and are not in the child, do not
// keep others there from sharing it.
class ForkAwareSharedMutex {
 public:
  void lock();
  void unlock() noexcept;
  void lock_shared();
  void unlock_shared() noexcept;

 private:
  std::atomic<std::uint64_t> state_ = 0;  // who holds it, and since which generation
};

}  // namespace backslice
