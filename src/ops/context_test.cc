// Contexts: a std::stop_token ends an operation, and no argument with a default must be given before the Context.
#include "backslice/context.h"

#include <algorithm>
#include <functional>
#include <stdexcept>
#include <utility>

#include "testing.h"

namespace backslice {
namespace {

using namespace testing;

// Refuses every operation that looks at its Context: the arguments are not on that device.
class Elsewhere final : public Allocator {
 public:
  Result<Buffer> allocate(std::int64_t, Contents) override {
    return Status(StatusCode::InvalidArgument, "the context's allocator was asked");
  }
  Device device() const override { return Device::cuda(0); }
};

bool refused_by_context(const Status& status) { return is_error(status, kInvalid, "the context's allocator"); }

// Says that it has no thread, or throws instead.
class NoThreads final : public Executor {
 public:
  explicit NoThreads(int threads) : threads_(threads) {}
  int concurrency() const override {
    if (threads_ > 0) throw std::runtime_error("boom");
    return threads_;
  }
  void run(std::int64_t, const std::function<void(std::int64_t)>&) override { ADD_FAILURE() << "it was asked to run"; }

 private:
  int threads_;
};

TEST(Context, RefusesExecutorsWithoutThreads) {
  const auto data = counting<float>(12);
  std::vector<float> memory(12, -1.0f);
  const Selection s = at({3, 4}, "1:, ::2");
  const auto refused = [&](int threads, StatusCode code, const std::string& message) {
    NoThreads executor(threads);
    const Context context{.executor = &executor};
    EXPECT_TRUE(is_error(slice(s, view_of(data, {3, 4}), context), code, message));
    EXPECT_TRUE(is_error(slice_grad_into(s, view_of(data, {2, 2}), view_of(memory, {3, 4}), context), code, message));
    EXPECT_TRUE(is_error(GradBuffer::make(DType::Float32, {3, 4}, context), code, message));
  };
  refused(0, kInvalid, "context.executor->concurrency() is 0, expected 1 or more");
  refused(-3, kInvalid, "context.executor->concurrency() is -3");
  refused(1, StatusCode::Internal, "context.executor->concurrency threw an exception: boom");
  EXPECT_EQ(memory, std::vector<float>(12, -1.0f));
}

// Says once how many threads it has.
class SaysOnce final : public Executor {
 public:
  int concurrency() const override {
    if (asked_++ > 0) throw std::runtime_error("boom");
    return 4;
  }
  std::int64_t least_work() const override {
    if (refuses) throw std::runtime_error("boom");
    return kLeastWork;
  }
  void run(std::int64_t count, const std::function<void(std::int64_t)>& task) override {
    most = std::max(most, count);
    for (std::int64_t i = 0; i < count; ++i) task(i);
  }
  bool refuses = false;
  std::int64_t most = 0;

 private:
  mutable int asked_ = 0;
};

TEST(Context, AsksAnExecutorOnceForItsThreads) {
  std::vector<float> from(1 << 22, 1.0f), to(1 << 22);
  const Selection all = at({1 << 22}, ":");
  SaysOnce executor;
  const Context context{.executor = &executor};
  const Status status = slice_grad_into(all, view_of(from, {1 << 22}), view_of(to, {1 << 22}), context);
  EXPECT_TRUE(status.ok()) << status;
  EXPECT_GT(executor.most, 1);
  EXPECT_EQ(to, from);
}

TEST(Context, NamesLeastWorkThatThrows) {
  std::vector<float> from(1 << 22, 1.0f), to(1 << 22);
  const Selection all = at({1 << 22}, ":");
  SaysOnce executor;
  executor.refuses = true;
  const Context context{.executor = &executor};
  const Status status = slice_grad_into(all, view_of(from, {1 << 22}), view_of(to, {1 << 22}), context);
  EXPECT_TRUE(is_error(status, StatusCode::Internal, "context.executor->least_work threw an exception: boom"))
      << status;
  EXPECT_FALSE(status.output_written());
}

TEST(Context, FollowsTheArgumentsThatHaveNoDefault) {
  Elsewhere elsewhere;
  const Context context{.allocator = &elsewhere};
  const auto data = counting<float>(12);
  std::vector<float> memory(12);
  const Selection s = at({3, 4}, "1:, ::2");
  const ConstView dy = view_of(data, {2, 2}), four = view_of(data, {4});
  const View dx = view_of(memory, {3, 4}), values = view_of(memory, {4});
  const TfSlice tf{.begin = {0}, .end = {2}, .strides = {1}};
  const OnnxSlice onnx{.starts = {0}, .ends = {2}};
  const SliceGradient slices[] = {{s, dy}};
  EXPECT_TRUE(refused_by_context(slice_grad_into(s, dy, dx, context)));
  EXPECT_TRUE(refused_by_context(slice_grad_into(s, dy, dx, {.allocator = &elsewhere})));
  EXPECT_TRUE(refused_by_context(strided_slice_grad_into({4}, tf, view_of(data, {2}), values, context)));
  EXPECT_TRUE(refused_by_context(onnx_slice_grad_into(view_of(data, {2}), {4}, onnx, values, context)));
  EXPECT_TRUE(refused_by_context(onnx_slice_grad_into(s, dy, dx, {.allocator = &elsewhere})));
  EXPECT_TRUE(refused_by_context(multi_slice_grad_into({3, 4}, slices, dx, {.allocator = &elsewhere})));

  const std::vector<std::int64_t> rows = {0, 1, 2, 3};
  const CooIndices list = CooIndices::from_matrix(view_of(rows, {4, 1})).value();
  EXPECT_TRUE(refused_by_context(sparse_slice_grad(four, list, {0}, list, {.allocator = &elsewhere}).status()));
  EXPECT_TRUE(refused_by_context(sparse_slice_grad_into(four, list, {0}, list, values, {.allocator = &elsewhere})));
  EXPECT_TRUE(refused_by_context(sparse_slice_grad_into(four, list, {0}, list, values, Write::IntoZeros, context)));
  EXPECT_TRUE(refused_by_context(sparse_slice_grad_by_size_into(four, list, {0}, {4}, values, context)));

  const RaggedTensor rt = RaggedTensor::make(tensor_of(data, {12}), {tensor_of<std::int64_t>({0, 12}, {2})}).value();
  const Selection row = at({1}, ":");
  std::vector<float> all(12);
  std::vector<std::int64_t> splits(2);
  const RaggedView out{{view_of(splits, {2})}, view_of(all, {12})};
  const ConstView drow = view_of(data, {12});
  EXPECT_TRUE(refused_by_context(ragged_slice_grad_into(row, rt, drow, out.values, {.allocator = &elsewhere})));
  EXPECT_TRUE(refused_by_context(ragged_slice_grad_into(Index{SliceRange{}}, rt, drow, out.values, context)));
  const VariantArray array = ragged_tensor_to_variant(rt).value();
  EXPECT_TRUE(refused_by_context(ragged_tensor_from_variant(array, 0, 1, {.allocator = &elsewhere}).status()));
  EXPECT_TRUE(refused_by_context(ragged_tensor_from_variant_size(array, 0, 1, context).status()));
  EXPECT_TRUE(refused_by_context(ragged_tensor_from_variant_into(array, 0, 1, out, context)));
  const std::vector<Tensor> row_splits = rt.nested_row_splits();
  EXPECT_TRUE(refused_by_context(
      ragged_tensor_to_variant_gradient(array, row_splits, {12}, {.allocator = &elsewhere}).status()));
  EXPECT_TRUE(refused_by_context(
      ragged_tensor_to_variant_gradient_into(array, row_splits, {12}, out.values, {.allocator = &elsewhere})));
  EXPECT_TRUE(refused_by_context(GradBuffer::make(DType::Float32, {4}, {.allocator = &elsewhere}).status()));
}

TEST(Context, FollowsTheArgumentsOfTensorArrays) {
  Elsewhere elsewhere;
  const Context context{.allocator = &elsewhere};
  std::vector<float> memory(8);
  std::vector<std::int64_t> lengths(2);
  const View out = view_of(memory, {2, 4});
  TensorArray a = TensorArray::make(2, DType::Float32).value();
  ASSERT_TRUE(a.unstack(tensor_of(counting<float>(8), {2, 4})).ok());
  EXPECT_TRUE(refused_by_context(a.gather({1, 0}, {.allocator = &elsewhere}).status()));
  EXPECT_TRUE(refused_by_context(a.gather_shape({1, 0}, context).status()));
  EXPECT_TRUE(refused_by_context(a.gather_into({1, 0}, out, context)));
  EXPECT_TRUE(refused_by_context(a.concat({.allocator = &elsewhere}).status()));
  EXPECT_TRUE(refused_by_context(a.concat_shape(context).status()));
  EXPECT_TRUE(refused_by_context(a.concat_into(view_of(memory, {8}), lengths, context)));
  const Context fine;
  EXPECT_TRUE(TensorArray::make(2, DType::Float32, fine).ok());
  EXPECT_TRUE(TensorArrayContainer().make(2, DType::Float32, fine).ok());
}

TEST(Context, IsNotTakenForAnEmptyListBeforeIt) {
  TensorArray a = TensorArray::make(2, DType::Float32, {}).value();
  ASSERT_TRUE(a.unstack(tensor_of(counting<float>(8), {2, 4})).ok());
  EXPECT_EQ(a.gather_shape({0}, {}).value(), Shape::make({1, 4}).value());
  EXPECT_EQ(a.concat_shape({}).value(), Shape::make({8}).value());
  const RaggedTensor rt =
      RaggedTensor::make(tensor_of<float>({1}, {1}), {tensor_of<std::int64_t>({0, 1}, {2})}).value();
  EXPECT_TRUE(ragged_tensor_from_variant(ragged_tensor_to_variant(rt).value(), 0, 1, {}).value() == rt);
  float one = 1;
  std::vector<float> memory(2);
  EXPECT_TRUE(slice_grad_into(at({2}, "1:"), View::contiguous(&one, {1}).value(), view_of(memory, {2}), {}).ok());
  EXPECT_THAT(memory, ElementsAre(0, 1));
}

#ifdef __cpp_lib_jthread

// Reports four threads, so that there are several pieces with checks between them. Calls `before_second` before the
// second piece.
class FourPieces final : public Executor {
 public:
  int concurrency() const override { return 4; }
  void run(std::int64_t count, const std::function<void(std::int64_t)>& task) override {
    for (std::int64_t i = 0; i < count; ++i) {
      if (i == 1 && before_second) before_second();
      task(i);
    }
  }
  std::function<void()> before_second;
};

TEST(Context, EndsByAStopToken) {
  const Selection all = at({1 << 22}, ":");
  std::vector<float> memory(1 << 22);
  const ConstView dy = view_of(memory, {1 << 22});
  FourPieces executor;
  std::stop_source source;
  const auto ends = [&](const CancelledTest* cancelled, std::stop_token token) {
    const Status status =
        slice_grad(all, dy, {.executor = &executor, .cancelled = cancelled, .stop = std::move(token)}).status();
    EXPECT_TRUE(status.ok() || is_error(status, StatusCode::Cancelled, "the context ended the operation"));
    return !status.ok();
  };
  const CancelledTest never = [] { return false; }, always = [] { return true; }, empty;
  EXPECT_FALSE(ends(nullptr, {}) || ends(nullptr, source.get_token()) || ends(&never, source.get_token()));
  EXPECT_TRUE(ends(&always, source.get_token()));
  source.request_stop();
  EXPECT_TRUE(ends(nullptr, source.get_token()) && ends(&never, source.get_token()) &&
              ends(&empty, source.get_token()));
}

TEST(Context, EndsSmallOperationsAlikeByBothFields) {
  std::stop_source not_asked, asked;
  asked.request_stop();
  const CancelledTest never = [] { return false; }, always = [] { return true; };
  const Selection s = at({4}, "1:3");
  const std::vector<float> dy = {1, 2};
  // The codes of each operation, and the values that it leaves.
  const auto outcomes = [&](const Context& context) {
    std::vector<float> memory(4, 5.0f);
    std::vector<std::pair<StatusCode, std::vector<float>>> all;
    for (const Write write : {Write::Overwrite, Write::IntoZeros, Write::Accumulate}) {
      const StatusCode code = slice_grad_into(s, view_of(dy, {2}), view_of(memory, {4}), write, context).code();
      all.emplace_back(code, memory);
    }
    GradBuffer buffer = GradBuffer::make(DType::Float32, {4}).value();
    for (const bool is_full : {false, true}) {
      if (is_full) {
        EXPECT_TRUE(buffer.write(s, view_of(dy, {2})).ok());
      }
      const StatusCode added = buffer.add(s, view_of(dy, {2}), context).code();
      all.emplace_back(added, elements<float>(buffer.tensor()));
      const StatusCode written = buffer.write(s, view_of(dy, {2}), context).code();
      all.emplace_back(written, elements<float>(buffer.tensor()));
    }
    return all;
  };
  const auto by_stop = outcomes({.stop = asked.get_token()});
  EXPECT_EQ(by_stop, outcomes({.cancelled = &always}));
  EXPECT_EQ(by_stop.back().first, StatusCode::Cancelled);
  EXPECT_EQ(outcomes({.stop = not_asked.get_token()}), outcomes({.cancelled = &never}));
  EXPECT_EQ(outcomes({.stop = not_asked.get_token()}), outcomes({}));
}

TEST(Context, EndsByAStopTokenBetweenPieces) {
  std::stop_source source;
  FourPieces executor;
  executor.before_second = [&] { source.request_stop(); };
  std::vector<float> from(1 << 22, 1.0f), to(1 << 22);
  const Status status = slice_grad_into(at({1 << 22}, ":"), view_of(from, {1 << 22}), view_of(to, {1 << 22}),
                                        {.executor = &executor, .stop = source.get_token()});
  EXPECT_EQ(status.code(), StatusCode::Cancelled);
  EXPECT_TRUE(status.output_written());
}

#endif

}  // namespace
}  // namespace backslice
