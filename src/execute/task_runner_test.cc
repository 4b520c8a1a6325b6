#include "execute/task_runner.h"

#include <atomic>
#include <new>
#include <stdexcept>

#include "core/boundary.h"
#include "testing.h"

namespace backslice {
namespace {

using namespace testing;

TEST(TaskRunner, RunsEveryTaskOnce) {
  const auto pool = make_thread_executor(3);
  for (Executor* executor : {&serial_executor(), pool.get()}) {
    for (std::int64_t count : {0, 1, 2, 100}) {
      std::atomic<std::int64_t> done = 0;
      TaskRunner(*executor).run(count, [&](std::int64_t) { ++done; });
      EXPECT_EQ(done, count);
    }
  }
}

TEST(TaskRunner, PassesOnWhatATaskThrowsAndLeavesOutTheRest) {
  const auto pool = make_thread_executor(3);
  for (Executor* executor : {&serial_executor(), pool.get()}) {
    std::atomic<int> started = 0;
    const auto fail = [&](std::int64_t) {
      ++started;
      throw std::bad_alloc();
    };
    EXPECT_THROW(TaskRunner(*executor).run(1000, fail), std::bad_alloc);
    EXPECT_LE(started, executor->concurrency());
    EXPECT_THROW(TaskRunner(*executor).run(1, fail), std::bad_alloc);
  }
}

TEST(TaskRunner, EndsWhenItIsCancelled) {
  const auto pool = make_thread_executor(3);
  for (Executor* executor : {&serial_executor(), pool.get()}) {
    std::atomic<int> started = 0;
    const CancelledTest cancelled = [&] { return started >= 10; };
    const Status status = without_throwing([&] {
      TaskRunner(*executor, &cancelled).run(1000, [&](std::int64_t) { ++started; });
      return Status();
    });
    EXPECT_EQ(status.code(), StatusCode::Cancelled);
    EXPECT_LE(started, 10 + executor->concurrency());
  }
}

TEST(TaskRunner, AnEmptyTestCancelsNothing) {
  const CancelledTest nobody;
  int done = 0;
  TaskRunner(serial_executor(), &nobody).run(5, [&](std::int64_t) { ++done; });
  EXPECT_EQ(done, 5);
}

TEST(TaskRunner, AnExecutorThatCannotBeginLeavesTheWorkToTheCaller) {
  struct Refusing final : Executor {
    int concurrency() const override { return 4; }
    void run(std::int64_t, const std::function<void(std::int64_t)>&) override { throw std::bad_alloc(); }
  } refusing;
  int done = 0;
  TaskRunner(refusing).run(20, [&](std::int64_t) { ++done; });
  EXPECT_EQ(done, 20);
}

// A copy without gaps is one run of bytes: it is cut as well.
TEST(TaskRunner, AContiguousCopyIsManyTasks) {
  const auto x = counting<float>(1 << 22);
  const Selection all = Selection::all(*Shape::make({1 << 22}));
  std::atomic<int> asked = 0;
  const CancelledTest never = [&] { return ++asked < 0; };
  const auto pool = make_thread_executor(2);
  Tensor y = slice(all, view_of(x, {1 << 22}), {.executor = pool.get(), .cancelled = &never}).value();
  EXPECT_EQ(elements<float>(y), x);
  EXPECT_GE(asked, 4);
}

// Through an operation: a large gradient asks between its pieces.
TEST(TaskRunner, ALargeGradientCanBeCancelled) {
  const Selection s = *Selection::from_index({1 << 20, 4}, "1:");
  const auto dy = counting<float>(s.result_shape().elements());
  std::atomic<int> asked = 0;
  const CancelledTest at_third = [&] { return ++asked == 3; };
  const auto pool = make_thread_executor(2);
  const auto dx = slice_grad(s, view_of(dy, s.result_shape()), {.executor = pool.get(), .cancelled = &at_third});
  EXPECT_EQ(dx.status().code(), StatusCode::Cancelled);
  EXPECT_TRUE(slice_grad(s, view_of(dy, s.result_shape()), {.executor = pool.get()}).ok());
}

}  // namespace
}  // namespace backslice
