// Executors that break their contract: each is found out, in the task runner and through operations.
#include <atomic>
#include <chrono>
#include <numeric>
#include <thread>

#include "backslice/grad_buffer.h"
#include "backslice/multi_slice.h"
#include "core/boundary.h"
#include "execute/task_runner.h"
#include "hostile_executors.h"
#include "testing.h"

namespace backslice {
namespace {

using namespace testing;

TEST(HostileExecutor, IsFoundOutAndEveryTaskRunsOnce) {
  for (const Hostile& hostile : hostile_executors()) {
    SCOPED_TRACE(hostile.name);
    Executing executor(hostile.run);
    for (std::int64_t count : {2, 63, 64, 65, 1000}) {
      std::vector<std::atomic<int>> runs(static_cast<std::size_t>(count));
      const Status status = without_throwing([&] {
        TaskRunner(executor).run(count, [&](std::int64_t i) { ++runs[static_cast<std::size_t>(i)]; });
        return Status();
      });
      EXPECT_TRUE(is_error(status, StatusCode::Internal, "context.executor->run"));
      EXPECT_TRUE(is_error(status, StatusCode::Internal, hostile.message));
      join_threads();
      for (const auto& n : runs) EXPECT_EQ(n, 1);
    }
  }
}

TEST(HostileExecutor, ReturningWhileATaskRunsIsFoundOut) {
  std::atomic<bool> is_running = false;
  Executing executor([&](std::int64_t n, const Task& task) {
    run_all(n - 1, task);
    threads_left().emplace_back([n, &task] { task(n - 1); });
    while (!is_running) std::this_thread::yield();
  });
  std::atomic<int> done = 0;
  const Status status = without_throwing([&] {
    TaskRunner(executor).run(8, [&](std::int64_t i) {
      if (i == 7) {
        is_running = true;
        std::this_thread::sleep_for(std::chrono::milliseconds(20));
      }
      ++done;
    });
    return Status();
  });
  EXPECT_TRUE(is_error(status, StatusCode::Internal, "returned before its tasks had"));
  EXPECT_EQ(done, 8);
  join_threads();
}

// By reference and by copy: neither may read the caller's stack later.
TEST(HostileExecutor, TasksThatComeLateDoNothing) {
  const Task* kept = nullptr;
  Task copied;
  Executing keeping([&](std::int64_t n, const Task& task) {
    kept = &task;
    copied = task;
    run_all(n, task);
  });
  int done = 0;
  TaskRunner(keeping).run(8, [&](std::int64_t) { ++done; });
  for (std::int64_t i = -1; i < 9; ++i) {
    (*kept)(i);
    copied(i);
  }
  EXPECT_EQ(done, 8);
  Executing other(run_all);
  for (int i = 0; i < 200; ++i) {  // the memory of a run is used again
    TaskRunner(other).run(3, [&](std::int64_t) { copied(1); });
  }
  EXPECT_EQ(done, 8);
}

TEST(HostileExecutor, TasksThatComeLateAreNotBlamedOnOthers) {
  Task late;
  Executing keeping([&](std::int64_t n, const Task& task) {
    late = task;
    run_all(n, task);
  });
  TaskRunner(keeping).run(8, [](std::int64_t) {});
  std::atomic<bool> is_over = false;
  std::thread calling([&] {
    while (!is_over) late(1);
  });
  Executing other(run_all);
  for (int i = 0; i < 400; ++i) {
    std::atomic<int> done = 0;
    const Status status = without_throwing([&] {
      TaskRunner(other).run(64, [&](std::int64_t) { ++done; });
      return Status();
    });
    EXPECT_TRUE(status.ok()) << status;
    EXPECT_EQ(done, 64);
  }
  is_over = true;
  calling.join();
}

TEST(HostileExecutor, ManyRunsAtOnceAreSupervised) {
  constexpr int kDepth = 80;  // more than there is memory for: the rest runs on its own thread
  Executing executor(run_all);
  std::atomic<int> done = 0;
  std::function<void(int)> nest = [&](int depth) {
    TaskRunner(executor).run(2, [&](std::int64_t i) {
      ++done;
      if (i == 0 && depth < kDepth) nest(depth + 1);
    });
  };
  nest(1);
  EXPECT_EQ(done, 2 * kDepth);
}

constexpr std::int64_t kRows = 1024, kColumns = 1024;  // enough for many pieces

TEST(HostileExecutor, IsAnErrorOfEveryOperation) {
  const Selection even = *Selection::from_index({kRows, kColumns}, "::2");
  Tensor dy = tensor_of(std::vector<float>(kRows / 2 * kColumns, 1), {kRows / 2, kColumns});
  Tensor x = tensor_of(std::vector<float>(kRows * kColumns, 1), {kRows, kColumns});
  for (const Hostile& hostile : hostile_executors()) {
    SCOPED_TRACE(hostile.name);
    Executing executor(hostile.run);
    const Context context{.executor = &executor};
    EXPECT_TRUE(is_error(slice_grad(even, dy, context), StatusCode::Internal, hostile.message));
    EXPECT_TRUE(is_error(slice(even, x, context), StatusCode::Internal, hostile.message));
    const Status added = slice_grad_into(even, dy, x, Write::Accumulate, context);
    EXPECT_TRUE(is_error(added, StatusCode::Internal, hostile.message));
    EXPECT_TRUE(added.output_written());
    const SliceGradient one{even, dy};
    EXPECT_TRUE(is_error(multi_slice_grad({kRows, kColumns}, {&one, 1}, context), StatusCode::Internal));
    join_threads();
  }
}

// A buffer finishes an operation that it has begun: the error is returned, and the content is right.
TEST(HostileExecutor, AGradBufferIsAsItShouldBe) {
  constexpr std::int64_t kTall = 16 * kRows;  // enough for many pieces of zeros, too
  const Selection even = *Selection::from_index({kTall, kColumns}, "::2");
  Tensor dy = tensor_of(std::vector<float>(kTall / 2 * kColumns, 1), {kTall / 2, kColumns});
  for (const Hostile& hostile : hostile_executors()) {
    SCOPED_TRACE(hostile.name);
    Executing executor(hostile.run);
    GradBuffer buffer = GradBuffer::make(DType::Float32, {kTall, kColumns}).value();
    ASSERT_TRUE(buffer.write(even, dy).ok());
    EXPECT_TRUE(is_error(buffer.add(even, dy, {.executor = &executor}), StatusCode::Internal, hostile.message));
    const auto sum = [&] {
      const auto* values = reinterpret_cast<const float*>(buffer.view().data);
      return std::accumulate(values, values + kTall * kColumns, 0.0);
    };
    EXPECT_EQ(sum(), kTall * kColumns);
    EXPECT_TRUE(is_error(buffer.zero({.executor = &executor}), StatusCode::Internal, hostile.message));
    EXPECT_EQ(sum(), 0);
    join_threads();
  }
}

}  // namespace
}  // namespace backslice
