#include "pool_executor.h"

#include <gtest/gtest.h>

#include <atomic>
#include <barrier>
#include <new>
#include <thread>
#include <vector>

namespace backslice::jax {
namespace {

using xla::ffi::ThreadPool;

// Each task that is scheduled runs on a thread of its own, at once.
class Threads {
 public:
  ThreadPool pool(std::int64_t threads) {
    return {threads, [this](ThreadPool::Task task) { threads_.emplace_back(std::move(task)); }};
  }
  std::size_t started() const { return threads_.size(); }

 private:
  std::vector<std::jthread> threads_;
};

TEST(PoolExecutor, ThreadsOfThePoolTakeTasks) {
  std::barrier<> all(4);  // which no thread passes alone
  std::atomic<int> done = 0;
  Threads threads;
  PoolExecutor(threads.pool(4)).run(4, [&](std::int64_t) {
    all.arrive_and_wait();
    ++done;
  });
  EXPECT_EQ(done, 4);
  EXPECT_EQ(threads.started(), 3U);
}

TEST(PoolExecutor, EveryTaskRunsOnce) {
  std::vector<std::atomic<int>> runs(1000);
  Threads threads;
  PoolExecutor(threads.pool(3)).run(1000, [&](std::int64_t i) { ++runs[static_cast<std::size_t>(i)]; });
  for (const auto& each : runs) EXPECT_EQ(each, 1);
}

TEST(PoolExecutor, NoMoreThreadsHelpThanThereAreTasks) {
  Threads threads;
  PoolExecutor(threads.pool(8)).run(2, [](std::int64_t) {});
  EXPECT_EQ(threads.started(), 1U);
}

TEST(PoolExecutor, TheCallerFinishesWhatABusyPoolDoesNotBegin) {
  std::vector<ThreadPool::Task> waiting;
  int done = 0;
  PoolExecutor(ThreadPool(4, [&](ThreadPool::Task task) {
    waiting.push_back(std::move(task));
  })).run(5, [&](std::int64_t) { ++done; });
  EXPECT_EQ(done, 5);
  ASSERT_EQ(waiting.size(), 3U);
  for (const auto& late : waiting) late();  // finds nothing to do, although run() has returned
  EXPECT_EQ(done, 5);
}

TEST(PoolExecutor, WhereMemoryEndsFewerHelp) {
  int done = 0;
  PoolExecutor(ThreadPool(4, [](const ThreadPool::Task&) { throw std::bad_alloc(); })).run(5, [&](std::int64_t) {
    ++done;
  });
  EXPECT_EQ(done, 5);
}

TEST(PoolExecutor, APoolWithoutThreadsLeavesTheCaller) {
  Threads threads;
  EXPECT_EQ(PoolExecutor(threads.pool(0)).concurrency(), 1);
  EXPECT_EQ(PoolExecutor(threads.pool(4)).concurrency(), 4);
}

}  // namespace
}  // namespace backslice::jax
