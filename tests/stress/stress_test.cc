// Every operation and container, from many threads at once, with executors, allocators and cancellation that break
// their contracts or use the same objects again. Runs for BACKSLICE_STRESS_SECONDS; `make stress` sets more.
//
// A call may fail, but only with an error. If it succeeds, its result is right; and nothing waits forever.
#include <array>
#include <atomic>
#include <chrono>
#include <cstdlib>
#include <mutex>
#include <numeric>
#include <optional>

#include "backslice/grad_buffer.h"
#include "backslice/ragged_slice.h"
#include "backslice/ragged_variant.h"
#include "backslice/sparse_slice.h"
#include "backslice/tensor_array_container.h"
#include "hostile_executors.h"
#include "testing.h"

namespace backslice {
namespace {

using namespace testing;

constexpr std::int64_t kRows = 96, kColumns = 1024;  // enough bytes for several pieces

// Objects that the callbacks of all calls use, as well as the calls themselves.
class Shared {
 public:
  static Shared& instance() {
    static Shared all;
    return all;
  }

  TensorArray array(int i) {
    const std::lock_guard lock(mutex_);
    return arrays_[static_cast<std::size_t>(i) % arrays_.size()];
  }
  void replace(int i, TensorArray array) {  // the old value is destroyed after the lock
    const std::lock_guard lock(mutex_);
    std::swap(arrays_[static_cast<std::size_t>(i) % arrays_.size()], array);
  }

  const Tensor ones = tensor_of(std::vector<float>(kRows * kColumns, 1), {kRows, kColumns});
  const Selection even = at({kRows, kColumns}, "::2");
  TensorArrayContainer container;

 private:
  Shared() {
    for (int i = 0; i < 4; ++i) arrays_.push_back(TensorArray::make(8, DType::Float32).value());
  }
  std::mutex mutex_;
  std::vector<TensorArray> arrays_;
};

// Uses objects that other calls use, as users' code may do anywhere.
void use_shared(unsigned random) {
  Shared& shared = Shared::instance();
  TensorArray array = shared.array(static_cast<int>(random));
  const auto index = static_cast<std::int64_t>(random >> 4) % 8;
  switch ((random >> 8) % 4) {
    case 0: (void)array.write(index, shared.ones); break;
    case 1: (void)array.read_shape(index); break;
    case 2: (void)array.size(); break;
    default: (void)array.contents(); break;
  }
}

std::atomic<unsigned> seed = 1;
unsigned next_random() {
  unsigned x = seed.fetch_add(0x9e3779b9u, std::memory_order_relaxed);
  x = (x ^ (x >> 16)) * 0x21f0aaadu;
  x = (x ^ (x >> 15)) * 0x735a2d97u;
  return x ^ (x >> 15);
}

// Fills memory with invalid values at allocation and at release; refuses, throws, and uses the shared arrays during
// both.
class PoisoningAllocator final : public Allocator {
 public:
  Result<Buffer> allocate(std::int64_t bytes, Contents contents) override {
    const unsigned random = next_random();
    if (random % 16 == 0) use_shared(random >> 4);
    if (random % 31 == 0) throw std::bad_alloc();
    if (random % 37 == 0) return Status(StatusCode::ResourceExhausted, "no memory left");
    const auto size = static_cast<std::size_t>(bytes + kAlignment) / kAlignment * kAlignment;
    auto* data = static_cast<std::byte*>(std::aligned_alloc(kAlignment, size));
    std::fill_n(data, size, contents == Contents::Zero ? std::byte{0} : kPoison);
    return Buffer::own(data, [size](std::byte* p) {
      std::fill_n(p, size, kPoison);
      std::free(p);
      const unsigned again = next_random();
      if (again % 16 == 0) use_shared(again >> 4);
    });
  }

 private:
  static constexpr std::byte kPoison{0xff};  // as floats, NaN
};

// A context of callbacks that are picked at random.
class RandomContext {
 public:
  RandomContext() {
    static const std::vector<Hostile> hostile = hostile_executors();
    const unsigned random = next_random();
    if (random % 4 == 0) {
      executor_.emplace(hostile[random / 4 % hostile.size()].run);
    } else if (random % 4 == 1) {
      executor_.emplace([](std::int64_t n, const Task& task) {  // in an order of its own, using the arrays between
        for (std::int64_t i = n; i-- > 0;) {
          if (i % 3 == 0) use_shared(next_random());
          task(i);
        }
      });
    }
    static const auto pool = make_thread_executor(3);
    context_.executor = executor_ ? &*executor_ : (random % 4 == 2 ? pool.get() : nullptr);
    if (random >> 8 & 1) context_.allocator = &allocator_;
    if (random >> 9 & 1) context_.cancelled = &cancelled_;
  }
  ~RandomContext() { join_threads(); }
  operator const Context&() const { return context_; }

 private:
  std::optional<Executing> executor_;
  PoisoningAllocator allocator_;
  CancelledTest cancelled_ = [] {
    const unsigned random = next_random();
    if (random % 16 == 0) use_shared(random >> 4);
    return random % 24 == 0;
  };
  Context context_;
};

void check_failure(const Status& status) {
  switch (status.code()) {
    case StatusCode::Ok:
    case StatusCode::Cancelled:
    case StatusCode::ResourceExhausted:
    case StatusCode::InvalidArgument:     // of the arrays: written or read twice, closed
    case StatusCode::FailedPrecondition:  // for arrays: another call is using it
    case StatusCode::Unimplemented: return;
    case StatusCode::Internal: EXPECT_THAT(status.message(), HasSubstr("context.executor->run")); return;
    default: ADD_FAILURE() << status;
  }
}

double sum_of_elements(const ConstView& view) {
  const auto values = view.elements<float>().value();
  return std::accumulate(values.begin(), values.end(), 0.0);
}

// The outcome of a call; for a tensor, its sum.
void check(const Status& status) { check_failure(status); }
void check(const Result<Tensor>& tensor, double sum) {
  check_failure(tensor.status());
  if (!tensor.ok()) return;
  EXPECT_EQ(sum_of_elements(tensor->view()), sum);
}

// Fills memory of zeros in every way that call(out, write) has. Then it holds the sum; if the status says that nothing
// was written, it still holds zeros.
template <class Call>
void check_into(const Shape& shape, double sum, const Call& call) {
  static constexpr Write kAll[] = {Write::Overwrite, Write::IntoZeros, Write::Accumulate};
  Tensor out = Tensor::make(DType::Float32, shape, 0, Contents::Zero).value();
  const Status status = call(out.view(), kAll[next_random() % std::size(kAll)]);
  check(status);
  if (status.ok() || !status.output_written()) {
    EXPECT_EQ(sum_of_elements(out.view()), status.ok() ? sum : 0) << status;
  }
}

void dense() {
  const Shared& shared = Shared::instance();
  const RandomContext context;
  const double all = kRows * kColumns;
  const Shape shape = shared.ones.shape(), half = shared.even.result_shape();
  Tensor dy = slice(shared.even, shared.ones).value();
  check(slice(shared.even, shared.ones, context), all / 2);
  check_into(half, all / 2, [&](const View& out, Write) { return slice_into(shared.even, shared.ones, out, context); });
  check(slice_grad(shared.even, dy, context), all / 2);
  check_into(shape, all / 2,
             [&](const View& out, Write write) { return slice_grad_into(shared.even, dy, out, write, context); });
  const std::vector<SliceGradient> slices(3, SliceGradient{shared.even, dy});
  check(multi_slice_grad(shape, slices, context), 3 * all / 2);
  check_into(shape, 3 * all / 2,
             [&](const View& out, Write write) { return multi_slice_grad_into(shape, slices, out, write, context); });
  check(multi_slice_write(shape, slices, context), all / 2);
  check_into(shape, all / 2,
             [&](const View& out, Write) { return multi_slice_write_into(shape, slices, out, context); });
  const PreparedSlice prepared = PreparedSlice::make(shared.even, DType::Float32).value();
  check_into(half, all / 2, [&](const View& out, Write) { return prepared.forward(shared.ones, out, context); });
  check_into(shape, all / 2, [&](const View& out, Write write) {
    return write == Write::Accumulate ? prepared.accumulate(dy, out, context) : prepared.gradient(dy, out, context);
  });
}

void dialects() {
  const Shared& shared = Shared::instance();
  const RandomContext context;
  const double half = kRows * kColumns / 2;
  const Shape shape = shared.ones.shape();
  static const TfSlice tf = shared.even.to_tf().value();
  static const OnnxSlice onnx = shared.even.to_onnx().slice;
  Tensor dy = slice(shared.even, shared.ones).value();
  // As ONNX allows: of another shape, here transposed, so that it has to be copied.
  Tensor ones = shared.ones;
  const std::int64_t turned[] = {kColumns, kRows / 2}, strides[] = {4, 4 * kColumns};
  const View flat = View::strided(ones.view().data, DType::Float32, turned, strides).value();
  check(strided_slice(shared.ones, tf, context), half);
  check(strided_slice_grad(shape, tf, dy, context), half);
  check_into(shape, half,
             [&](const View& out, Write write) { return strided_slice_grad_into(shape, tf, dy, out, write, context); });
  check(onnx_slice(shared.ones, onnx, context), half);
  check(onnx_slice_grad(flat, shape, onnx, context), half);
  check_into(shape, half, [&](const View& out, Write write) {
    return onnx_slice_grad_into(flat, shape, onnx, out, write, context);
  });
}

void grad_buffer() {
  const Shared& shared = Shared::instance();
  const RandomContext context;
  auto made = GradBuffer::make(DType::Float32, {kRows, kColumns}, 0, context);
  check(made.status());
  if (!made.ok()) return;
  GradBuffer& buffer = *made;
  const Tensor dy = slice(shared.even, shared.ones).value();
  ASSERT_TRUE(buffer.write(shared.even, dy).ok());
  const double one = kRows * kColumns / 2;
  const Status added = buffer.add(shared.even, dy, context);
  check(added);
  EXPECT_EQ(sum_of_elements(buffer.view()), added.ok() || added.output_written() ? 2 * one : one);
  check(buffer.write(at({kRows, kColumns}, "1::2"), dy, context));
  ASSERT_TRUE(buffer.write(shared.even, dy).ok());
  EXPECT_EQ(sum_of_elements(buffer.view()), one);
  check(buffer.zero(context));
  EXPECT_EQ(sum_of_elements(buffer.view()), 0);
}

void sparse() {
  const RandomContext context;
  constexpr std::int64_t kEntries = 1 << 14;
  static const Tensor where = [] {
    std::vector<std::int64_t> all(kEntries);
    std::iota(all.begin(), all.end(), 0);
    return tensor_of(all, {kEntries, 1});
  }();
  static const Tensor values = tensor_of(std::vector<float>(kEntries * 16, 1), {kEntries, 16});
  const CooIndices indices = CooIndices::from_matrix(where).value();
  const auto sliced = sparse_slice(indices, values, {kEntries}, {0}, {kEntries / 2}, context);
  check(sliced.status());
  if (!sliced.ok()) return;
  EXPECT_EQ(sum_of_elements(sliced->values.view()), kEntries * 8);
  const CooIndices found = CooIndices::from_matrix(sliced->indices).value();
  const auto order = next_random() % 2 == 0 ? MatchOrder::InOrder : MatchOrder::Any;
  const Tensor& dy = sliced->values;
  check(sparse_slice_grad(dy, indices, {0}, found, order, context), kEntries * 8);
  check_into(values.shape(), kEntries * 8, [&](const View& out, Write write) {
    return sparse_slice_grad_into(dy, indices, {0}, found, out, order, write, context);
  });
  check(sparse_slice_grad_by_size(dy, indices, {0}, {kEntries / 2}, context), kEntries * 8);
  check_into(values.shape(), kEntries * 8, [&](const View& out, Write write) {
    return sparse_slice_grad_by_size_into(dy, indices, {0}, {kEntries / 2}, out, write, context);
  });
}

void ragged() {
  const RandomContext context;
  constexpr std::int64_t kLists = 1 << 10, kValues = 128 * kLists;
  static const RaggedTensor rt = [] {
    std::vector<std::int64_t> splits(kLists + 1);
    for (std::size_t i = 0; i < splits.size(); ++i) splits[i] = static_cast<std::int64_t>(i) * 128;
    return RaggedTensor::make(tensor_of(std::vector<float>(kValues, 1), {kValues}), {tensor_of(splits, {kLists + 1})})
        .value();
  }();
  const Selection reversed = at({kLists}, "::-2");
  const auto sliced = ragged_slice(reversed, rt, context);
  check(sliced.status());
  if (!sliced.ok()) return;
  EXPECT_EQ(sum_of_elements(sliced->values().view()), kValues / 2);
  check(ragged_slice_grad(reversed, rt, sliced->values(), context), kValues / 2);
  check_into(rt.values().shape(), kValues / 2, [&](const View& out, Write write) {
    return ragged_slice_grad_into(reversed, rt, sliced->values(), out, write, context);
  });
  const auto encoded = ragged_tensor_to_variant(*sliced);
  check(encoded.status());
  if (!encoded.ok()) return;
  check(ragged_tensor_from_variant(*encoded, 0, 1, {}, context).status());
  check(encoded->at(next_random() % 64, context).status());
  const std::vector<Tensor> splits = sliced->nested_row_splits();
  check(ragged_tensor_to_variant_gradient(*encoded, splits, {kValues / 2}, {}, context), kValues / 2);
  check_into(*Shape::make({kValues / 2}), kValues / 2, [&](const View& out, Write write) {
    return ragged_tensor_to_variant_gradient_into(*encoded, splits, {kValues / 2}, out, write, context);
  });
}

// Each write adds 1 to every element of a slot of a gradient array that only this call has.
void sums_of_a_gradient() {
  const Shared& shared = Shared::instance();
  TensorArray gradient = TensorArray::make(3, DType::Float32).value().grad("loss").value();
  std::array<std::atomic<int>, 3> written = {};
  std::vector<std::thread> threads;
  for (int t = 0; t < 2; ++t) {
    threads.emplace_back([&] {
      for (int i = 0; i < 12; ++i) {
        const RandomContext context;
        const auto index = static_cast<std::size_t>(next_random() % 3);
        const Status status = gradient.write(static_cast<std::int64_t>(index), shared.ones, context);
        check(status);
        if (status.ok()) ++written[index];
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  for (std::size_t i = 0; i < written.size(); ++i) {
    const RandomContext context;
    const auto read = gradient.read(static_cast<std::int64_t>(i), context);
    if (written[i] > 0) check(read, static_cast<double>(written[i]) * kRows * kColumns);
  }
}

void shared_arrays() {
  Shared& shared = Shared::instance();
  const RandomContext context;
  const unsigned random = next_random();
  const int which = static_cast<int>(random % 4);
  TensorArray array = shared.array(which);
  const auto index = static_cast<std::int64_t>(random >> 4) % 8;
  switch ((random >> 8) % 14) {
    case 0: check(array.write(index, shared.ones, context)); break;
    case 1: check(array.scatter({index, (index + 1) % 8}, tensor_of(std::vector<float>(2, 1), {2}), context)); break;
    case 2: check(array.read(index, context).status()); break;
    case 3: check(array.gather({index, (index + 3) % 8}, {}, context).status()); break;
    case 4: check(array.stack(context).status()); break;
    case 5: check(array.concat({}, context).status()); break;
    case 6: check(array.unstack(shared.ones, context)); break;
    case 7: check(array.split(shared.ones, {12, 12, 12, 12, 12, 12, 12, 12}, context)); break;
    case 8: check(array.grad("loss", context).status()); break;
    case 9: check(array.contents(context).status()); break;
    case 10: check(array.close()); break;
    case 11:
    case 12: {
      const auto shape = array.read_shape(index, context);
      check(shape.status());
      if (!shape.ok()) break;
      Tensor out = Tensor::make(DType::Float32, *shape).value();
      check(array.read_into(index, out, context));
      break;
    }
    default: {
      const PartialShape shape = *Shape::make({kRows, kColumns});
      const bool is_gradient = random >> 16 & 1;
      const TensorArrayOptions options{.element_shape = is_gradient ? PartialShape() : shape,
                                       .clear_after_read = (random >> 17 & 1) != 0,
                                       .contiguous = !is_gradient && (random >> 18 & 1) != 0};
      auto made = shared.container.make(8, DType::Float32, options, context);
      check(made.status());
      if (!made.ok()) break;
      check(shared.container.remove(made->name()).status());
      if (is_gradient) made = made->grad("loss");
      shared.replace(which, *made);
    }
  }
}

TEST(Stress, EveryOperationWithHostileCallbacks) {
  const char* given = std::getenv("BACKSLICE_STRESS_SECONDS");
  const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(given == nullptr ? 2 : std::atoi(given));
  std::atomic<std::int64_t> calls = 0;
  std::vector<std::thread> threads;
  for (int t = 0; t < 6; ++t) {
    threads.emplace_back([&] {
      static constexpr void (*kBodies[])() = {dense,         dialects,      grad_buffer,
                                              sparse,        ragged,        sums_of_a_gradient,
                                              shared_arrays, shared_arrays, shared_arrays};
      while (std::chrono::steady_clock::now() < end && !::testing::Test::HasFailure()) {
        kBodies[next_random() % std::size(kBodies)]();
        ++calls;
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_GT(calls, 100);
}

}  // namespace
}  // namespace backslice
