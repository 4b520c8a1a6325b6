// Every operator, in memory of exactly the size that it may use.
#include "operators.h"

#include <gtest/gtest.h>

#include "fake_runtime.h"

namespace backslice::onnxruntime {
namespace {

using testing::list;
using testing::live_statuses;
using testing::value;

constexpr int kFloat = 1;

struct Answer {
  std::vector<float> elements;
  std::string error;
};

/// Runs a kernel on inputs; a null one is left out. `constants` are those that are known when it is made.
Answer run(const OpDescription& description, std::vector<const OrtValue*> inputs,
           std::vector<const OrtValue*> constants = {}) {
  const OrtApi* api = testing::fake_api();
  const Op op(description, kInt64);
  void* kernel = nullptr;
  constants.resize(inputs.size());
  const OrtKernelInfo node{std::move(constants)};
  EXPECT_EQ(op.create_kernel_v2(&op, api, &node, &kernel), nullptr);
  OrtKernelContext context{.inputs = std::move(inputs), .output = {{kFloat, {}}, nullptr}, .item_size = sizeof(float)};
  OrtStatus* failed = op.kernel_compute_v2(kernel, &context);
  op.kernel_destroy(kernel);
  Answer answer;
  if (failed != nullptr) {
    answer.error = Api(api).taken(failed).message();
  } else {
    const auto* first = reinterpret_cast<const float*>(context.output.data.get());
    answer.elements.assign(first, first + context.output.info.elements());
  }
  EXPECT_EQ(live_statuses(), 0);
  return answer;
}

using Floats = std::vector<float>;

TEST(OnnxRuntimeOperators, SliceGradWritesAroundTheSlice) {
  const OrtValue dy = value<float>(kFloat, {2}, {1, 2}), shape = list({5}), starts = list({3}), ends = list({0}),
                 steps = list({-2});
  EXPECT_EQ(run(kSliceGrad, {&dy, &shape, &starts, &ends, nullptr, &steps}).elements, Floats({0, 2, 0, 1, 0}));
}

TEST(OnnxRuntimeOperators, SliceGradOfConstantsIsPlannedAhead) {
  const OrtValue dy = value<float>(kFloat, {2}, {1, 2}), shape = list({5}), starts = list({1}), ends = list({3});
  const std::vector<const OrtValue*> inputs = {&dy, &shape, &starts, &ends};
  EXPECT_EQ(run(kSliceGrad, inputs, {nullptr, &shape, &starts, &ends}).elements, Floats({0, 1, 2, 0, 0}));
  const OrtValue more = value<float>(kFloat, {3}, {1, 2, 3});
  EXPECT_NE(run(kSliceGrad, {&more, &shape, &starts, &ends}, {nullptr, &shape, &starts, &ends}).error, "");
}

TEST(OnnxRuntimeOperators, AGradientOfAnotherSizeIsRefused) {
  const OrtValue dy = value<float>(kFloat, {3}, {1, 2, 3}), shape = list({5}), starts = list({1}), ends = list({3});
  EXPECT_NE(run(kSliceGrad, {&dy, &shape, &starts, &ends}).error.find("dY has 3 elements"), std::string::npos);
}

TEST(OnnxRuntimeOperators, StridedSliceGradTakesTensorFlowsArguments) {
  const OrtValue dy = value<float>(kFloat, {2}, {1, 2}), shape = list({4}), begin = list({-3}), end = list({3}),
                 strides = list({1});
  EXPECT_EQ(run(kStridedSliceGrad, {&shape, &begin, &end, &strides, &dy}).elements, Floats({0, 1, 2, 0}));
}

TEST(OnnxRuntimeOperators, SliceGradAccumulateAddsToACopy) {
  const OrtValue dy = value<float>(kFloat, {2}, {1, 2}), dx = value<float>(kFloat, {3}, {10, 20, 30}),
                 starts = list({1}), ends = list({3});
  EXPECT_EQ(run(kSliceGradAccumulate, {&starts, &ends, nullptr, nullptr, &dx, &dy}).elements, Floats({10, 21, 32}));
}

TEST(OnnxRuntimeOperators, MultiSliceGradAddsUp) {
  const OrtValue shape = list({3}), first = value<float>(kFloat, {2}, {1, 2}),
                 second = value<float>(kFloat, {2}, {3, 4}), starts = value<std::int64_t>(kInt64, {2, 1}, {0, 1}),
                 ends = value<std::int64_t>(kInt64, {2, 1}, {2, 3});
  EXPECT_EQ(run(kMultiSliceGrad, {&shape, &starts, &ends, nullptr, nullptr, &first, &second}).elements,
            Floats({1, 5, 4}));
}

TEST(OnnxRuntimeOperators, SparseSliceGradFindsTheEntries) {
  const OrtValue grad = value<float>(kFloat, {1}, {7}), input = value<std::int64_t>(kInt64, {2, 1}, {0, 3}),
                 start = list({2}), output = value<std::int64_t>(kInt64, {1, 1}, {1});
  EXPECT_EQ(run(kSparseSliceGrad, {&grad, &input, &start, &output}).elements, Floats({0, 7}));
}

TEST(OnnxRuntimeOperators, RaggedGradientJoinsThePieces) {
  const OrtValue splits = list({0, 2, 3}), shape = list({3}), first = value<float>(kFloat, {2}, {1, 2}),
                 second = value<float>(kFloat, {1}, {3});
  EXPECT_EQ(run(kRaggedGradient, {&splits, &shape, &first, &second}).elements, Floats({1, 2, 3}));
}

TEST(OnnxRuntimeThreads, EachTaskRunsOnceWhereTheyFailPartWay) {
  OrtKernelContext context{.inputs = {}, .output = {{kFloat, {}}, nullptr}, .item_size = 4, .runs_before_failing = 3};
  std::vector<int> runs(8);
  SessionThreads(Api(testing::fake_api()), &context).run(8, [&](std::int64_t i) {
    ++runs[static_cast<std::size_t>(i)];
  });
  EXPECT_EQ(runs, std::vector<int>(8, 1));
  EXPECT_EQ(live_statuses(), 0);
}

}  // namespace
}  // namespace backslice::onnxruntime
