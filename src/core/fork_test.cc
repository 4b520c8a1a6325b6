// Locks in a child that was forked while another thread held them. In the thread-sanitizer build, the locks themselves.
#include "core/fork.h"

#include <sys/wait.h>
#include <unistd.h>

#include <mutex>
#include <shared_mutex>
#include <thread>

#include "backslice/tensor_array.h"
#include "core/boundary.h"
#include "testing.h"

namespace backslice {
namespace {

template <class Mutex>
void expect_exclusion() {
  Mutex mutex;
  std::int64_t count = 0;
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([&] {
      for (int i = 0; i < 2000; ++i) {
        const std::unique_lock lock(mutex);
        ++count;
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(count, 4 * 2000);
}

TEST(ForkAwareMutex, HoldsOneThreadAtATime) { expect_exclusion<ForkAwareMutex>(); }
TEST(ForkAwareSharedMutex, HoldsOneWriterAtATime) { expect_exclusion<ForkAwareSharedMutex>(); }

TEST(ForkAwareSharedMutex, ReadersSeeWhatWritersHaveFinished) {
  ForkAwareSharedMutex mutex;
  std::int64_t a = 0, b = 0;
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([&, t] {
      for (int i = 0; i < 2000; ++i) {
        if (t % 2 == 0) {
          const std::unique_lock lock(mutex);
          ++a, ++b;
        } else {
          const std::shared_lock lock(mutex);
          EXPECT_EQ(a, b);
        }
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(a, 2 * 2000);
}

#if !defined(__SANITIZE_THREAD__) && !defined(__SANITIZE_ADDRESS__)  // they do not follow forks

// Whether body() is true in a child that is forked while another thread is inside hold(wait).
template <class Hold, class Body>
bool is_true_in_a_child(const Hold& hold, const Body& body) {
  std::atomic<bool> is_held = false, finish = false;
  std::thread holder([&] {
    hold([&] {
      is_held = true;
      while (!finish) std::this_thread::yield();
    });
  });
  while (!is_held) std::this_thread::yield();
  const pid_t child = fork();
  if (child == 0) {
    alarm(20);  // a child that hangs ends
    _exit(body() ? 0 : 1);
  }
  finish = true;
  holder.join();
  int status = 0;
  waitpid(child, &status, 0);
  return WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

template <class Lock>
bool is_refused(auto& mutex) {
  try {
    const Lock lock(mutex);
    return false;
  } catch (const StatusException& refused) {
    return refused.status().code() == StatusCode::FailedPrecondition;
  }
}

TEST(ForkAwareMutex, IsRefusedInAChildWhoseParentHoldsIt) {
  ForkAwareMutex mutex;
  const auto hold = [&](const auto& wait) {
    const std::lock_guard lock(mutex);
    wait();
  };
  EXPECT_TRUE(is_true_in_a_child(hold, [&] { return is_refused<std::unique_lock<ForkAwareMutex>>(mutex); }));
  const std::lock_guard lock(mutex);  // the parent goes on
}

TEST(ForkAwareSharedMutex, IsSharedInAChildWhoseParentSharesIt) {
  ForkAwareSharedMutex mutex;
  using Shared = std::shared_lock<ForkAwareSharedMutex>;
  using Alone = std::unique_lock<ForkAwareSharedMutex>;
  const auto share = [&](const auto& wait) {
    const Shared lock(mutex);
    wait();
  };
  const auto hold = [&](const auto& wait) {
    const Alone lock(mutex);
    wait();
  };
  EXPECT_TRUE(is_true_in_a_child(share, [&] { return !is_refused<Shared>(mutex) && is_refused<Alone>(mutex); }));
  EXPECT_TRUE(is_true_in_a_child(hold, [&] { return is_refused<Shared>(mutex) && is_refused<Alone>(mutex); }));
}

// The test for cancellation is asked while the array holds its locks.
TEST(TensorArrayForks, ElementsThatAThreadOfTheParentIsSummingAreRefused) {
  std::function<void()> during;
  const CancelledTest ask = [&] {
    if (during) during();
    return false;
  };
  const Context context{.cancelled = &ask};
  TensorArray array = TensorArray::make(2, DType::Int64, {.clear_after_read = false}).value().grad("x").value();
  const Tensor one = Tensor::make(DType::Int64, *Shape::make({1 << 20}), 0, Contents::Zero).value();
  for (int i = 0; i < 4; ++i) ASSERT_TRUE(array.write(i % 2, one, context).ok());
  const auto hold = [&](const auto& wait) {
    std::atomic<bool> first = true;
    during = [&] {
      if (first.exchange(false)) wait();
    };
    EXPECT_TRUE(array.read(0, context).ok());
    during = nullptr;
  };
  EXPECT_TRUE(is_true_in_a_child(hold, [&] {
    return array.size().ok() && array.write(1, one, context).ok() &&
           array.write(0, one, context).code() == StatusCode::FailedPrecondition &&
           array.gather({1, 0}, {}, context).status().code() == StatusCode::FailedPrecondition &&
           array.write(1, one, context).ok();
  }));
  EXPECT_TRUE(array.read(1, context).ok());
}

#endif

}  // namespace
}  // namespace backslice
