// The executors, and that results do not depend on them. In the thread-sanitizer build too.
#include "backslice/executor.h"

#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <thread>

#include "testing.h"

namespace backslice {
namespace {

using namespace testing;

TEST(Executor, ThreadPoolRunsEveryTaskOnce) {
  const auto pool = make_thread_executor(4);
  EXPECT_EQ(pool->concurrency(), 4);
  for (std::int64_t count : {0, 1, 3, 1000}) {
    std::vector<std::atomic<int>> runs(static_cast<std::size_t>(count));
    pool->run(count, [&](std::int64_t i) { ++runs[static_cast<std::size_t>(i)]; });
    for (const auto& n : runs) EXPECT_EQ(n, 1);
  }
}

TEST(Executor, ThreadPoolServesManyCallersAtOnce) {
  const auto pool = make_thread_executor(3);
  std::atomic<int> total = 0;
  std::vector<std::thread> callers;
  for (int t = 0; t < 4; ++t) {
    callers.emplace_back([&] {
      for (int i = 0; i < 50; ++i) pool->run(10, [&](std::int64_t) { ++total; });
    });
  }
  for (std::thread& caller : callers) caller.join();
  EXPECT_EQ(total, 4 * 50 * 10);
}

TEST(Executor, ResultsDoNotDependOnTheNumberOfThreads) {
  const Selection s = *Selection::from_index({64, 16, 1024}, *parse_index("3:-5, ::-2, 1::3"));
  const auto dy = counting<float>(s.result_shape().elements());
  Tensor expected = slice_grad(s, view_of(dy, s.result_shape()), {.executor = &serial_executor()}).value();
  for (int threads : {2, 3, 8}) {
    const auto pool = make_thread_executor(threads);
    Tensor dx = slice_grad(s, view_of(dy, s.result_shape()), {.executor = pool.get()}).value();
    EXPECT_EQ(elements<float>(dx), elements<float>(expected));
    Tensor y = slice(s, dx.view(), {.executor = pool.get()}).value();
    EXPECT_EQ(elements<float>(y), dy);
    EXPECT_TRUE(
        slice_grad_into(s, view_of(dy, s.result_shape()), dx.view(), {.accumulate = true, .executor = pool.get()})
            .ok());
    EXPECT_EQ(dx.elements<float>()[dx.elements<float>().size() - 5 * 16 * 1024 - 1], 0);
  }
}

#ifndef __SANITIZE_THREAD__  // oneTBB is not instrumented, and the sanitizer does not follow forks

TEST(Executor, DefaultPoolHasAsManyThreadsAsAskedFor) {
  EXPECT_TRUE(set_num_threads(3).ok());
  EXPECT_EQ(num_threads(), 3);
  EXPECT_EQ(default_executor().concurrency(), 3);
  std::atomic<int> total = 0;
  default_executor().run(100, [&](std::int64_t) { ++total; });
  EXPECT_EQ(total, 100);
  EXPECT_TRUE(is_error(set_num_threads(0), kInvalid, "threads is 0"));
  EXPECT_TRUE(is_error(set_num_threads(-1), kInvalid, "must be >= 1"));
  EXPECT_EQ(num_threads(), 3);
  EXPECT_TRUE(set_num_threads(2).ok());
}

#ifndef __SANITIZE_ADDRESS__  // its allocator may be locked by a thread that the child does not have

TEST(Executor, ForkedChildrenStartAPoolOfTheirOwn) {
  std::atomic<int> total = 0;
  default_executor().run(100, [&](std::int64_t) { ++total; });
  const pid_t child = fork();
  if (child == 0) {
    std::atomic<int> in_child = 0;
    for (int i = 0; i < 10; ++i) default_executor().run(100, [&](std::int64_t) { ++in_child; });
    _exit(in_child == 1000 && default_executor().concurrency() == num_threads() ? 0 : 1);
  }
  int status = 0;
  waitpid(child, &status, 0);
  EXPECT_TRUE(WIFEXITED(status));
  EXPECT_EQ(WEXITSTATUS(status), 0);
}

#endif
#endif

}  // namespace
}  // namespace backslice
