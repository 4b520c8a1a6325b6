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

/// In what each version of the interface that we use more of has.
class OnnxRuntimeOperators : public ::testing::TestWithParam<std::uint32_t> {
 protected:
  OnnxRuntimeOperators() { version = GetParam(); }
  ~OnnxRuntimeOperators() override { version = kApi; }

 public:
  static inline std::uint32_t version = kApi;
};
INSTANTIATE_TEST_SUITE_P(Versions, OnnxRuntimeOperators, ::testing::Values(kApi, kLatestApi));

struct Answer {
  std::vector<float> elements;
  std::string error;
};

/// A kernel of a node. `constants` are the inputs that are known when it is made.
class Kernel {
 public:
  Kernel(const OpDescription& description, const OrtKernelInfo& node)
      : op_(Api(testing::fake_api(), OnnxRuntimeOperators::version), description, kInt64) {
    EXPECT_EQ(op_.create_kernel_v2(&op_, testing::fake_api(), &node, &kernel_), nullptr);
  }
  Kernel(const Kernel&) = delete;
  ~Kernel() { op_.kernel_destroy(kernel_); }

  /// A null input is left out.
  Answer run(std::vector<const OrtValue*> inputs) const {
    OrtKernelContext context{
        .inputs = std::move(inputs), .output = {{kFloat, {}}, nullptr}, .item_size = sizeof(float)};
    OrtStatus* failed = op_.kernel_compute_v2(kernel_, &context);
    Answer answer;
    if (failed != nullptr) {
      answer.error = Api(testing::fake_api()).taken(failed).message();
    } else {
      const auto* first = reinterpret_cast<const float*>(context.output.data.get());
      answer.elements.assign(first, first + context.output.info.elements());
    }
    EXPECT_EQ(live_statuses(), 0);
    return answer;
  }

 private:
  Op op_;
  void* kernel_ = nullptr;
};

Answer run(const OpDescription& description, const std::vector<const OrtValue*>& inputs,
           std::vector<const OrtValue*> constants = {}) {
  constants.resize(inputs.size());
  return Kernel(description, {std::move(constants), {{kFloat, {}}}}).run(inputs);
}

using Floats = std::vector<float>;

TEST_P(OnnxRuntimeOperators, SliceGradWritesAroundTheSlice) {
  const OrtValue dy = value<float>(kFloat, {2}, {1, 2}), shape = list({5}), starts = list({3}), ends = list({0}),
                 steps = list({-2});
  EXPECT_EQ(run(kSliceGrad, {&dy, &shape, &starts, &ends, nullptr, &steps}).elements, Floats({0, 2, 0, 1, 0}));
}

TEST_P(OnnxRuntimeOperators, SliceGradOfConstantsIsPlannedAhead) {
  const OrtValue dy = value<float>(kFloat, {2}, {1, 2}), shape = list({5}), starts = list({1}), ends = list({3});
  const std::vector<const OrtValue*> inputs = {&dy, &shape, &starts, &ends};
  EXPECT_EQ(run(kSliceGrad, inputs, {nullptr, &shape, &starts, &ends}).elements, Floats({0, 1, 2, 0, 0}));
  const OrtValue more = value<float>(kFloat, {3}, {1, 2, 3});
  EXPECT_NE(run(kSliceGrad, {&more, &shape, &starts, &ends}, {nullptr, &shape, &starts, &ends}).error, "");
}

// What a node was given before must not show: the arguments of each run count, however often they come.
void expect_that_each_run_counts(const Kernel& kernel) {
  const OrtValue dy = value<float>(kFloat, {2}, {1, 2}), more = value<float>(kFloat, {3}, {1, 2, 3}), shape = list({5}),
                 larger = list({6}), first = list({1}), second = list({2}), end = list({3}), last = list({4});
  for (int i = 0; i < 3; ++i) {
    EXPECT_EQ(kernel.run({&dy, &shape, &first, &end}).elements, Floats({0, 1, 2, 0, 0}));
  }
  EXPECT_EQ(kernel.run({&dy, &shape, &second, &last}).elements, Floats({0, 0, 1, 2, 0}));
  EXPECT_EQ(kernel.run({&dy, &larger, &second, &last}).elements, Floats({0, 0, 1, 2, 0, 0}));
  for (int i = 0; i < 3; ++i) EXPECT_NE(kernel.run({&more, &larger, &second, &last}).error, "");
  EXPECT_EQ(kernel.run({&more, &shape, &first, &last}).elements, Floats({0, 1, 2, 3, 0}));
}

TEST_P(OnnxRuntimeOperators, SliceGradFollowsArgumentsThatChange) {
  expect_that_each_run_counts(Kernel(kSliceGrad, {std::vector<const OrtValue*>(4)}));
}

TEST_P(OnnxRuntimeOperators, SliceGradFollowsArgumentsOfDeclaredLength) {
  expect_that_each_run_counts(Kernel(
      kSliceGrad, {std::vector<const OrtValue*>(4), {{kFloat, {-1}}, {kInt64, {1}}, {kInt64, {1}}, {kInt64, {1}}}}));
}

TEST_P(OnnxRuntimeOperators, ListsThatAreShorterThanDeclaredAreNotReadBeyondTheirEnd) {
  const OrtValue dy = value<float>(kFloat, {2}, {1, 2}), shape = list({5}), starts = list({1}), ends = list({3}),
                 none = list({}), matrix = value<std::int64_t>(kInt64, {1, 1}, {1});
  const std::vector<OrtTensorTypeAndShapeInfo> two = {{kFloat, {-1}}, {kInt64, {2}}, {kInt64, {2}}, {kInt64, {2}}};
  const Kernel kernel(kSliceGrad, {std::vector<const OrtValue*>(4), two});
  for (int i = 0; i < 3; ++i) {
    EXPECT_EQ(kernel.run({&dy, &shape, &starts, &ends}).elements, Floats({0, 1, 2, 0, 0}));
    EXPECT_NE(kernel.run({&dy, &shape, &none, &ends}).error, "");
    EXPECT_NE(kernel.run({&dy, &shape, &matrix, &ends}).error.find("starts has shape [1,1]"), std::string::npos);
  }
}

TEST_P(OnnxRuntimeOperators, ListsThatAreLongerThanDeclaredAreReadToTheirEnd) {
  const OrtValue dy = value<float>(kFloat, {1, 2}, {1, 2}), shape = list({2, 3}), starts = list({1, 0}),
                 ends = list({2, 2});
  const std::vector<OrtTensorTypeAndShapeInfo> one = {{kFloat, {-1, -1}}, {kInt64, {1}}, {kInt64, {1}}, {kInt64, {1}}};
  const Kernel kernel(kSliceGrad, {std::vector<const OrtValue*>(4), one});
  for (int i = 0; i < 3; ++i) {
    EXPECT_EQ(kernel.run({&dy, &shape, &starts, &ends}).elements, Floats({0, 0, 0, 1, 2, 0}));
  }
}

// With older versions, the adapter relies on the graph for the length of lists.
class OnnxRuntimeOfToday : public OnnxRuntimeOperators {};
INSTANTIATE_TEST_SUITE_P(Latest, OnnxRuntimeOfToday, ::testing::Values(kLatestApi));

TEST_P(OnnxRuntimeOfToday, ListsThatBecomeLongerThanDeclaredAreReadToTheirEnd) {
  const OrtValue dy = value<float>(kFloat, {2}, {1, 2}), shape = list({5}), starts = list({1}), ends = list({3}),
                 matrix = list({5, 1}), two_starts = list({1, 0}), two_ends = list({3, 1});
  const std::vector<OrtTensorTypeAndShapeInfo> one = {{kFloat, {2}}, {kInt64, {1}}, {kInt64, {1}}, {kInt64, {1}}};
  const Kernel kernel(kSliceGrad, {std::vector<const OrtValue*>(4), one});
  for (int i = 0; i < 3; ++i) kernel.run({&dy, &shape, &starts, &ends});
  EXPECT_EQ(kernel.run({&dy, &shape, &two_starts, &ends}).elements, Floats());
  EXPECT_EQ(kernel.run({&dy, &matrix, &two_starts, &two_ends}).elements, Floats({0, 1, 2, 0, 0}));
}

TEST_P(OnnxRuntimeOperators, ManyArgumentsAreComparedToTheLast) {
  const OrtValue dy = value<float>(kFloat, {1, 1, 1, 2}, {1, 2}), shape = list({1, 1, 1, 4}),
                 starts = list({0, 0, 0, 1}), ends = list({1, 1, 1, 3}), axes = list({0, 1, 2, 3}),
                 ones = list({1, 1, 1, 1}), last = list({1, 1, 1, 4}), twos = list({1, 1, 1, 2});
  const Kernel kernel(kSliceGrad, {std::vector<const OrtValue*>(6)});
  for (int i = 0; i < 3; ++i) {
    EXPECT_EQ(kernel.run({&dy, &shape, &starts, &ends, &axes, &ones}).elements, Floats({0, 1, 2, 0}));
  }
  EXPECT_EQ(kernel.run({&dy, &shape, &starts, &last, &axes, &twos}).elements, Floats({0, 1, 0, 2}));
  EXPECT_EQ(kernel.run({&dy, &shape, &starts, &ends, &axes, nullptr}).elements, Floats({0, 1, 2, 0}));
}

// The graph may say what is not so; nothing is read that is not there.
TEST_P(OnnxRuntimeOperators, AGradientOfAnotherSizeThanDeclaredIsRefused) {
  const OrtValue dy = value<float>(kFloat, {2, 2}, {1, 2, 3, 4}), shape = list({3, 2}), starts = list({1}),
                 ends = list({3}), row = value<float>(kFloat, {1, 2}, {1, 2}), flat = value<float>(kFloat, {2}, {1, 2}),
                 column = value<float>(kFloat, {2, 1}, {1, 2}), square = value<float>(kFloat, {4}, {1, 2, 3, 4}),
                 wide = value<float>(kFloat, {2, 3}, {1, 2, 3, 4, 5, 6}),
                 tall = value<float>(kFloat, {3, 2}, {1, 2, 3, 4, 5, 6});
  const std::vector<OrtTensorTypeAndShapeInfo> told = {{kFloat, {2, 2}}, {kInt64, {2}}, {kInt64, {1}}, {kInt64, {1}}};
  const Kernel kernel(kSliceGrad, {std::vector<const OrtValue*>(4), told});
  for (int i = 0; i < 3; ++i) {
    EXPECT_EQ(kernel.run({&dy, &shape, &starts, &ends}).elements, Floats({0, 0, 1, 2, 3, 4}));
    EXPECT_EQ(kernel.run({&square, &shape, &starts, &ends}).elements, Floats({0, 0, 1, 2, 3, 4}));
    for (const OrtValue* other : {&row, &flat, &column, &wide, &tall}) {
      EXPECT_NE(kernel.run({other, &shape, &starts, &ends}).error.find("dY has"), std::string::npos);
    }
  }
}

TEST_P(OnnxRuntimeOperators, AGradientThatIsTallerThanDeclaredIsRefusedWhereTheFirstExtentIsOne) {
  const OrtValue dy = value<float>(kFloat, {1, 2}, {1, 2}), shape = list({1, 3}), starts = list({0, 1}),
                 ends = list({1, 3}), wide = value<float>(kFloat, {1, 3}, {1, 2, 3}),
                 tall = value<float>(kFloat, {2, 2}, {1, 2, 3, 4});
  const std::vector<OrtTensorTypeAndShapeInfo> told = {{kFloat, {1, 2}}, {kInt64, {2}}, {kInt64, {2}}, {kInt64, {2}}};
  const Kernel kernel(kSliceGrad, {std::vector<const OrtValue*>(4), told});
  for (int i = 0; i < 3; ++i) {
    EXPECT_EQ(kernel.run({&dy, &shape, &starts, &ends}).elements, Floats({0, 1, 2}));
    for (const OrtValue* other : {&wide, &tall}) {
      EXPECT_NE(kernel.run({other, &shape, &starts, &ends}).error.find("dY has"), std::string::npos);
    }
  }
}

TEST_P(OnnxRuntimeOperators, AGradientOfAnotherTypeIsNotReadAsIfItHadThis) {
  const OrtValue dy = value<float>(kFloat, {2}, {1, 2}), integers = list({1, 2}), shape = list({3}), starts = list({0}),
                 ends = list({2});
  const Kernel kernel(kSliceGrad, {std::vector<const OrtValue*>(4)});
  for (int i = 0; i < 3; ++i) {
    EXPECT_EQ(kernel.run({&dy, &shape, &starts, &ends}).elements, Floats({1, 2, 0}));
    EXPECT_NE(kernel.run({&integers, &shape, &starts, &ends}).error, "");  // the result is declared to be float
  }
}

TEST_P(OnnxRuntimeOperators, AGradientOfAnotherSizeIsRefused) {
  const OrtValue dy = value<float>(kFloat, {3}, {1, 2, 3}), shape = list({5}), starts = list({1}), ends = list({3});
  EXPECT_NE(run(kSliceGrad, {&dy, &shape, &starts, &ends}).error.find("dY has 3 elements"), std::string::npos);
}

TEST_P(OnnxRuntimeOperators, StridedSliceGradTakesTensorFlowsArguments) {
  const OrtValue dy = value<float>(kFloat, {2}, {1, 2}), shape = list({4}), begin = list({-3}), end = list({3}),
                 strides = list({1});
  EXPECT_EQ(run(kStridedSliceGrad, {&shape, &begin, &end, &strides, &dy}).elements, Floats({0, 1, 2, 0}));
}

TEST_P(OnnxRuntimeOperators, SliceGradAccumulateAddsToACopy) {
  const OrtValue dy = value<float>(kFloat, {2}, {1, 2}), dx = value<float>(kFloat, {3}, {10, 20, 30}),
                 starts = list({1}), ends = list({3});
  EXPECT_EQ(run(kSliceGradAccumulate, {&starts, &ends, nullptr, nullptr, &dx, &dy}).elements, Floats({10, 21, 32}));
}

TEST_P(OnnxRuntimeOperators, MultiSliceGradAddsUp) {
  const OrtValue shape = list({3}), first = value<float>(kFloat, {2}, {1, 2}),
                 second = value<float>(kFloat, {2}, {3, 4}), starts = value<std::int64_t>(kInt64, {2, 1}, {0, 1}),
                 ends = value<std::int64_t>(kInt64, {2, 1}, {2, 3});
  EXPECT_EQ(run(kMultiSliceGrad, {&shape, &starts, &ends, nullptr, nullptr, &first, &second}).elements,
            Floats({1, 5, 4}));
}

TEST_P(OnnxRuntimeOperators, SparseSliceGradFindsTheEntries) {
  const OrtValue grad = value<float>(kFloat, {1}, {7}), input = value<std::int64_t>(kInt64, {2, 1}, {0, 3}),
                 start = list({2}), output = value<std::int64_t>(kInt64, {1, 1}, {1});
  EXPECT_EQ(run(kSparseSliceGrad, {&grad, &input, &start, &output}).elements, Floats({0, 7}));
}

TEST_P(OnnxRuntimeOperators, RaggedGradientJoinsThePieces) {
  const OrtValue splits = list({0, 2, 3}), shape = list({3}), first = value<float>(kFloat, {2}, {1, 2}),
                 second = value<float>(kFloat, {1}, {3});
  EXPECT_EQ(run(kRaggedGradient, {&splits, &shape, &first, &second}).elements, Floats({1, 2, 3}));
}

}  // namespace
}  // namespace backslice::onnxruntime
