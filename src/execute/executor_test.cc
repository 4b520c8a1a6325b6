// The executors, and that results do not depend on them. In the thread-sanitizer build too.
#include "backslice/executor.h"

#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <csignal>
#include <filesystem>
#include <thread>

#include "core/faults.h"
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

TEST(Executor, TasksMayRunTasksOfTheirOwn) {
  const auto pool = make_thread_executor(3);
  std::atomic<int> total = 0;
  pool->run(8,
            [&](std::int64_t) { pool->run(8, [&](std::int64_t) { pool->run(4, [&](std::int64_t) { ++total; }); }); });
  EXPECT_EQ(total, 8 * 8 * 4);
}

// A caller waits for its own tasks alone: one that is stuck in a long job does not hold up the others.
TEST(Executor, ALongJobDoesNotHoldUpOtherCallers) {
  const auto pool = make_thread_executor(2);
  std::atomic<bool> finish = false;
  std::atomic<int> started = 0;
  std::thread slow([&] {
    pool->run(2, [&](std::int64_t) {
      ++started;
      while (!finish) std::this_thread::yield();
    });
  });
  while (started < 1) std::this_thread::yield();
  std::atomic<int> done = 0;
  pool->run(100, [&](std::int64_t) { ++done; });
  EXPECT_EQ(done, 100);
  finish = true;
  slow.join();
}

TEST(Executor, WakesUpAfterALongSleep) {
  const auto pool = make_thread_executor(4);
  for (int i = 0; i < 3; ++i) {
    std::atomic<int> done = 0;
    pool->run(50, [&](std::int64_t) { ++done; });
    EXPECT_EQ(done, 50);
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
  }
}

TEST(Executor, FewerThreadsThanWantedDoTheWork) {
  if (!faults::kEnabled) GTEST_SKIP() << "needs a build with BACKSLICE_FAULT_INJECTION";
#ifdef BACKSLICE_FAULT_INJECTION
  for (int refused : {0, 1, 2, 3, 5, 8}) {
    const auto pool = make_thread_executor(6);
    std::atomic<int> done = 0;
    faults::strike_at(refused);
    pool->run(100, [&](std::int64_t) { ++done; });
    faults::disarm();
    EXPECT_EQ(done, 100);
    pool->run(100, [&](std::int64_t) { ++done; });  // the missing ones are requested again
    EXPECT_EQ(done, 200);
  }
#endif
}

TEST(Executor, FarMoreThreadsThanCoresAreBounded) {
  const int before = num_threads();
  EXPECT_TRUE(set_num_threads(100'000).ok());
  const int cores = static_cast<int>(std::max(1u, std::thread::hardware_concurrency()));
  EXPECT_EQ(num_threads(), std::max(32, 4 * cores));
  EXPECT_EQ(default_executor().concurrency(), num_threads());
  EXPECT_TRUE(set_num_threads(before).ok());
}

TEST(Executor, ResultsDoNotDependOnTheNumberOfThreads) {
  const Selection s = *Selection::from_index({64, 16, 1024}, "3:-5, ::-2, 1::3");
  const auto dy = counting<float>(s.result_shape().elements());
  Tensor expected = slice_grad(s, view_of(dy, s.result_shape()), {.executor = &serial_executor()}).value();
  for (int threads : {2, 3, 8}) {
    const auto pool = make_thread_executor(threads);
    Tensor dx = slice_grad(s, view_of(dy, s.result_shape()), {.executor = pool.get()}).value();
    EXPECT_EQ(elements<float>(dx), elements<float>(expected));
    Tensor y = slice(s, dx.view(), {.executor = pool.get()}).value();
    EXPECT_EQ(elements<float>(y), dy);
    EXPECT_TRUE(
        slice_grad_into(s, view_of(dy, s.result_shape()), dx.view(), Write::Accumulate, {.executor = pool.get()}).ok());
    EXPECT_EQ(dx.elements<float>().value()[dx.elements<float>().value().size() - 5 * 16 * 1024 - 1], 0);
  }
}

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

TEST(Executor, WorkersLeaveSignalsToTheProgramButForTheirOwnFaults) {
  const auto pool = make_thread_executor(2);
  const std::thread::id caller = std::this_thread::get_id();
  std::atomic<int> on_worker = 0, wrong = 0, started = 0;
  pool->run(2, [&](std::int64_t) {
    for (++started; started < 2;) std::this_thread::yield();  // each on its own thread
    if (std::this_thread::get_id() == caller) return;
    sigset_t blocked;
    pthread_sigmask(SIG_SETMASK, nullptr, &blocked);
    ++on_worker;
    wrong += sigismember(&blocked, SIGINT) == 0;
    // a blocked one would end the process before its handler can run
    for (int fault : {SIGBUS, SIGSEGV, SIGFPE, SIGILL}) wrong += sigismember(&blocked, fault);
  });
  EXPECT_EQ(on_worker, 1);
  EXPECT_EQ(wrong, 0);
}

int threads_of_this_process() {
  int threads = 0;
  for ([[maybe_unused]] const auto& thread : std::filesystem::directory_iterator("/proc/self/task")) ++threads;
  return threads;
}

TEST(Executor, ThreadsOfPoolsThatAreNoLongerUsedEnd) {
  std::thread([] {}).join();  // with the first thread, a thread sanitizer starts one of its own
  const int before = num_threads(), running = threads_of_this_process();
  Executor* old = nullptr;
  for (int threads : {9, 8, 7, 6, 1}) {
    ASSERT_TRUE(set_num_threads(threads).ok());
    std::atomic<int> total = 0;
    default_executor().run(1000, [&](std::int64_t) { ++total; });
    EXPECT_EQ(total, 1000);
    if (threads == 9) old = &default_executor();
  }
  for (int i = 0; i < 500 && threads_of_this_process() > running; ++i) {
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  }
  EXPECT_LE(threads_of_this_process(), running);
  std::atomic<int> total = 0;
  old->run(1000, [&](std::int64_t) { ++total; });  // current users may continue to use it
  EXPECT_EQ(total, 1000);
  EXPECT_TRUE(set_num_threads(before).ok());
}

#if !defined(__SANITIZE_THREAD__) && !defined(__SANITIZE_ADDRESS__)  // they do not follow forks

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

// Returns the exit code of a child; -1 if it hangs and has to be killed.
int exit_code_of(pid_t child) {
  for (int i = 0; i < 1000; ++i) {
    int status = 0;
    if (waitpid(child, &status, WNOHANG) == child) return WIFEXITED(status) ? WEXITSTATUS(status) : -2;
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  }
  kill(child, SIGKILL);
  waitpid(child, nullptr, 0);
  return -1;
}

TEST(Executor, AChildThatATaskForksIsToldWhatIsMissing) {
  const auto pool = make_thread_executor(3);
  const std::thread::id caller = std::this_thread::get_id();
  std::atomic<int> elsewhere = 0;
  pid_t child = -1;
  const auto task = [&](std::int64_t) {
    if (std::this_thread::get_id() != caller) {
      ++elsewhere;
      while (child == -1) std::this_thread::yield();
    } else if (child == -1) {
      while (elsewhere < 2) std::this_thread::yield();
      child = fork();
    }
  };
  bool told = false;
  try {
    pool->run(100, task);
  } catch (const std::exception& missing) {
    told = std::string_view(missing.what()).find("forked during this operation") != std::string_view::npos;
  }
  if (child == 0) {
    std::atomic<int> in_child = 0;
    pool->run(100, [&](std::int64_t) { ++in_child; });
    _exit(told && in_child == 100 ? 0 : 1);
  }
  EXPECT_FALSE(told);
  EXPECT_EQ(exit_code_of(child), 0);
}

TEST(Executor, AForkedChildMayDestroyAPool) {
  auto pool = make_thread_executor(3);
  pool->run(100, [](std::int64_t) {});
  const pid_t child = fork();
  if (child == 0) {
    pool.reset();
    _exit(0);
  }
  EXPECT_EQ(exit_code_of(child), 0);
}

#endif

}  // namespace
}  // namespace backslice
