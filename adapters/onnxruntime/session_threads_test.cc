#include "session_threads.h"

#include <gtest/gtest.h>

#include "fake_runtime.h"

namespace backslice::onnxruntime {
namespace {

class OnnxRuntimeThreads : public ::testing::Test {
 protected:
  OnnxRuntimeThreads() { EXPECT_TRUE(set_num_threads(2).ok()); }
  ~OnnxRuntimeThreads() override { EXPECT_TRUE(set_num_threads(before_).ok()); }

  // How often each of eight tasks runs.
  std::vector<int> runs_of_tasks() {
    std::vector<int> runs(8);
    threads_.run(8, [&](std::int64_t i) { ++runs[static_cast<std::size_t>(i)]; });
    return runs;
  }

  const int before_ = num_threads();
  OrtKernelContext context_{.inputs = {}, .output = {{1, {}}, nullptr}, .item_size = 4};
  PromptHelp help_;
  SessionThreads threads_{Api(testing::fake_api()), &context_, help_};
};

TEST_F(OnnxRuntimeThreads, EachTaskRunsOnceWhereverOnnxRuntimeFails) {
  for (const std::size_t before_failing : {0, 1, 2}) {
    context_.runs_before_failing = before_failing;
    EXPECT_EQ(runs_of_tasks(), std::vector<int>(8, 1)) << before_failing;
    EXPECT_EQ(testing::live_statuses(), 0);
  }
}

TEST_F(OnnxRuntimeThreads, NoMoreThreadsRunTasksThanBacksliceMayUse) {
  EXPECT_EQ(runs_of_tasks(), std::vector<int>(8, 1));
  EXPECT_EQ(context_.most_tasks, 2U);
}

TEST_F(OnnxRuntimeThreads, AreAskedForLittleWorkWhileTheyHelp) {
  context_.has_helper = true;
  EXPECT_LT(threads_.least_work(), Executor::kLeastWork);
  EXPECT_EQ(runs_of_tasks(), std::vector<int>(8, 1));
  EXPECT_LT(threads_.least_work(), Executor::kLeastWork);
}

TEST_F(OnnxRuntimeThreads, AreLeftAloneForSomeRunsWhereTheyDidNotHelp) {
  runs_of_tasks();
  EXPECT_LT(threads_.least_work(), Executor::kLeastWork);  // asked once, they are awake now
  runs_of_tasks();
  EXPECT_EQ(threads_.least_work(), Executor::kLeastWork);
  int runs = 1;
  while (threads_.least_work() == Executor::kLeastWork && runs < 1'000) ++runs;
  EXPECT_EQ(runs, 128);
}

}  // namespace
}  // namespace backslice::onnxruntime
