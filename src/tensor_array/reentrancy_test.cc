// Executors, allocators, cancellation and deleters that use the array whose operation calls them. No lock is held then,
// so nothing waits forever.
#include <thread>

#include "backslice/tensor_array_container.h"
#include "hostile_executors.h"
#include "testing.h"

namespace backslice {
namespace {

using namespace testing;

constexpr std::int64_t kLarge = 1 << 18;  // floats: worth several threads

Tensor large(float value) { return tensor_of(std::vector<float>(kLarge, value), {kLarge}); }

TensorArray gradient_with(int terms) {
  TensorArray made = TensorArray::make(4, DType::Float32).value().grad("loss").value();
  for (int i = 0; i < terms; ++i) EXPECT_TRUE(made.write(0, large(1)).ok());
  return made;
}

// Runs `body` before its tasks.
Executing executor_that_first(const std::function<void()>& body) {
  return Executing([body](std::int64_t n, const Task& task) {
    body();
    run_all(n, task);
  });
}

class AllocatorThatFirst final : public Allocator {
 public:
  explicit AllocatorThatFirst(std::function<void()> body) : body_(std::move(body)) {}
  Result<Buffer> allocate(std::int64_t bytes, Contents contents) override {
    body_();
    return pool_allocator().allocate(bytes, contents);
  }

 private:
  std::function<void()> body_;
};

TEST(TensorArrayReentrancy, AWriteThatAddsUpMayBeInterruptedByWritesToTheSameIndex) {
  TensorArray array = gradient_with(TensorArray::kMaxTerms);
  int nested = 0;
  Executing executor = executor_that_first([&] {
    if (nested++ < 3) {
      EXPECT_TRUE(array.write(0, large(1)).ok());
    }
  });
  EXPECT_TRUE(array.write(0, large(1), {.executor = &executor}).ok());
  EXPECT_GE(nested, 1);
  EXPECT_EQ(elements<float>(array.read(0).value())[7], TensorArray::kMaxTerms + 1 + std::min(nested, 3));
}

TEST(TensorArrayReentrancy, WhatIsReadMayNotBeUsedMeanwhile) {
  TensorArray array = gradient_with(2);
  int asked = 0;
  const auto use = [&] {
    ++asked;
    EXPECT_TRUE(is_error(array.write(0, large(1)), StatusCode::FailedPrecondition, "another call is using index 0"));
    EXPECT_TRUE(is_error(array.read(0), StatusCode::FailedPrecondition, "another call is using index 0"));
    EXPECT_TRUE(is_error(array.stack(), StatusCode::FailedPrecondition));
    EXPECT_TRUE(array.write(1, large(1)).ok());
    EXPECT_EQ(array.size().value(), 4);
    EXPECT_EQ(array.contents().value().elements.size(), 2u);
  };
  Executing executor = executor_that_first(use);
  AllocatorThatFirst allocator(use);
  const CancelledTest cancelled = [&] {
    use();
    return false;
  };
  Tensor sum = array.read(0, {.executor = &executor, .allocator = &allocator, .cancelled = &cancelled}).value();
  EXPECT_EQ(elements<float>(sum)[kLarge - 1], 2);
  EXPECT_GE(asked, 3);
  EXPECT_TRUE(is_error(array.read(0), kInvalid, "twice"));
}

TEST(TensorArrayReentrancy, AFailedReadGivesBackWhatItClaimed) {
  TensorArray array = gradient_with(2);
  Executing executor([](std::int64_t, const Task&) {});
  EXPECT_TRUE(is_error(array.read(0, {.executor = &executor}), StatusCode::Internal));
  EXPECT_TRUE(array.write(0, large(1)).ok());
  EXPECT_EQ(elements<float>(array.read(0).value())[0], 3);
}

TEST(TensorArrayReentrancy, TheArrayMayBeClosedWhileItIsRead) {
  TensorArray array = gradient_with(2);
  Executing executor = executor_that_first([&] { EXPECT_TRUE(array.close().ok()); });
  EXPECT_EQ(elements<float>(array.read(0, {.executor = &executor}).value())[0], 2);
  EXPECT_TRUE(is_error(array.read(0), kInvalid, "closed"));
  TensorArray other = gradient_with(TensorArray::kMaxTerms);
  Executing closing = executor_that_first([&] { EXPECT_TRUE(other.close().ok()); });
  EXPECT_TRUE(is_error(other.write(0, large(1), {.executor = &closing}), kInvalid, "closed"));
}

TensorArray contiguous(bool clear) {
  const TensorArrayOptions options{
      .element_shape = *Shape::make({kLarge}), .clear_after_read = clear, .contiguous = true};
  return TensorArray::make(3, DType::Float32, options).value();
}

// With gaps, so that copying it is more than one task.
Tensor with_gaps() {
  Tensor memory = tensor_of(std::vector<float>(2 * kLarge, 5), {2 * kLarge});
  return Tensor::of(memory.buffer(), View::strided(memory.view().data, DType::Float32, {kLarge}, {8}).value());
}

TEST(TensorArrayReentrancy, ARowThatIsWrittenMayNotBeUsedMeanwhile) {
  for (bool clear : {true, false}) {
    TensorArray array = contiguous(clear);
    int asked = 0;
    Executing executor = executor_that_first([&] {
      ++asked;
      EXPECT_TRUE(is_error(array.write(1, large(1)), StatusCode::FailedPrecondition, "index 1"));
      EXPECT_TRUE(is_error(array.read(1), StatusCode::FailedPrecondition, "index 1"));
      EXPECT_TRUE(is_error(array.stack(), StatusCode::FailedPrecondition));
      EXPECT_TRUE(array.write(2, large(2)).ok());
    });
    EXPECT_TRUE(array.write(1, with_gaps(), {.executor = &executor}).ok());
    EXPECT_EQ(asked, 1);
    Tensor all = array.stack().value();
    EXPECT_EQ(all.elements<float>().value()[kLarge], 5);
    EXPECT_EQ(all.elements<float>().value()[2 * kLarge], 2);
  }
}

TEST(TensorArrayReentrancy, ABlockThatIsStackedMayNotBeWrittenMeanwhile) {
  TensorArray array = contiguous(true);
  ASSERT_TRUE(array.write(0, large(1)).ok());
  int asked = 0;
  Executing executor = executor_that_first([&] {
    ++asked;
    EXPECT_TRUE(is_error(array.write(1, large(1)), StatusCode::FailedPrecondition));
    EXPECT_TRUE(is_error(array.stack(), StatusCode::FailedPrecondition));
    EXPECT_TRUE(is_error(array.read(0), StatusCode::FailedPrecondition));
  });
  std::vector<float> out(3 * kLarge);
  EXPECT_TRUE(array.stack_into(view_of(out, {3, kLarge}), {.executor = &executor}).ok());
  EXPECT_EQ(asked, 1);
  EXPECT_TRUE(is_error(array.write(1, large(1)), kInvalid, "already been read"));
}

TEST(TensorArrayReentrancy, ReadersThatDoNotClearDoNotKeepEachOtherOut) {
  TensorArray array = contiguous(false);
  ASSERT_TRUE(array.write(0, large(1)).ok());
  Executing executor = executor_that_first([&] { EXPECT_TRUE(array.read(0).ok()); });
  std::vector<float> out(2 * kLarge);
  EXPECT_TRUE(array.gather_into({0, 2}, view_of(out, {2, kLarge}), {}, {.executor = &executor}).ok());
}

// Calls on an array of three elements of shape [8], of which the first is written.
using ArrayCall = std::function<Status(TensorArray&, const Context&)>;
Tensor eight(float value) { return tensor_of(std::vector<float>(8, value), {8}); }

const std::vector<std::pair<std::string, ArrayCall>>& array_calls() {
  static std::vector<float> out(8);
  static const std::vector<std::pair<std::string, ArrayCall>> all = {
      {"write 0", [](TensorArray& a, const Context& c) { return a.write(0, eight(1), c); }},
      {"write 1", [](TensorArray& a, const Context& c) { return a.write(1, eight(1), c); }},
      {"scatter 1, 2",
       [](TensorArray& a, const Context& c) {
         return a.scatter({1, 2}, tensor_of(std::vector<float>(16, 1), {2, 8}), c);
       }},
      {"scatter nothing",
       [](TensorArray& a, const Context& c) { return a.scatter({}, tensor_of<float>({}, {0, 8}), c); }},
      {"read 0", [](TensorArray& a, const Context& c) { return a.read(0, c).status(); }},
      {"read 1", [](TensorArray& a, const Context& c) { return a.read(1, c).status(); }},
      {"read 0 into", [](TensorArray& a, const Context& c) { return a.read_into(0, view_of(out, {8}), c); }},
      {"gather 2, 0", [](TensorArray& a, const Context& c) { return a.gather({2, 0}, {}, c).status(); }},
      {"gather nothing", [](TensorArray& a, const Context& c) { return a.gather({}, {}, c).status(); }},
      {"stack", [](TensorArray& a, const Context& c) { return a.stack(c).status(); }},
      {"concat", [](TensorArray& a, const Context& c) { return a.concat({}, c).status(); }},
      {"shape of 0", [](TensorArray& a, const Context& c) { return a.read_shape(0, c).status(); }},
      {"shape of 1", [](TensorArray& a, const Context& c) { return a.read_shape(1, c).status(); }},
      {"shape of all", [](TensorArray& a, const Context& c) { return a.stack_shape(c).status(); }},
      {"size", [](TensorArray& a, const Context&) { return a.size().status(); }},
      {"contents", [](TensorArray& a, const Context& c) { return a.contents(c).status(); }},
      {"gradient", [](TensorArray& a, const Context& c) { return a.grad("loss", c).status(); }},
  };
  return all;
}

TensorArray array_of_eights(bool contiguous, bool clear, bool gradient) {
  const TensorArrayOptions options{
      .element_shape = *Shape::make({8}), .clear_after_read = clear, .contiguous = contiguous};
  TensorArray made = TensorArray::make(3, DType::Float32, options).value();
  if (gradient) made = made.grad("x").value();
  for (int i = 0; i < (gradient ? 8 : 1); ++i) EXPECT_TRUE(made.write(0, eight(1)).ok());
  return made;
}

// The second call comes while the first is at work, as it may from another thread: at each of its requests for memory
// and questions whether it is cancelled.
TEST(TensorArrayReentrancy, CallsThatSucceedInEitherOrderSucceedAtOnce) {
  int met = 0, pairs = 0;
  for (int kind = 0; kind < 5; ++kind) {
    const auto fresh = [&] { return array_of_eights(kind < 2, kind % 2 == 0, kind == 4); };
    for (const auto& [first_name, first] : array_calls()) {
      for (const auto& [second_name, second] : array_calls()) {
        SCOPED_TRACE(std::to_string(kind) + ": " + first_name + ", " + second_name);
        TensorArray one = fresh(), other = fresh();
        if (!first(one, {}).ok() || !second(one, {}).ok() || !second(other, {}).ok() || !first(other, {}).ok())
          continue;
        ++pairs;
        for (int at = 0, asked = 1; at < asked; ++at) {
          TensorArray array = fresh();
          asked = 0;
          const auto ask = [&] {
            if (asked++ != at) return;
            EXPECT_EQ(second(array, {}).to_string(), "Ok");
            ++met;
          };
          AllocatorThatFirst allocator(ask);
          const CancelledTest cancelled = [&] {
            ask();
            return false;
          };
          EXPECT_EQ(first(array, {.allocator = &allocator, .cancelled = &cancelled}).to_string(), "Ok");
        }
      }
    }
  }
  EXPECT_GT(pairs, 300);
  EXPECT_GT(met, 300);
}

// The last owner of memory that an array releases may use the array.
TEST(TensorArrayReentrancy, DeletersMayUseTheArray) {
  TensorArray array = TensorArray::make(2, DType::Float32).value();
  static float memory[2] = {1, 2};
  int released = 0;
  const auto value = [&] {
    Buffer buffer = Buffer::own(reinterpret_cast<std::byte*>(memory), [&](std::byte*) {
      ++released;
      (void)array.size();
      (void)array.read(1);
    });
    return Tensor::of(buffer, View::of(memory, {2}).value());
  };
  ASSERT_TRUE(array.write(0, value()).ok());
  ASSERT_TRUE(array.read(0).ok());
  EXPECT_EQ(released, 1);
  ASSERT_TRUE(array.write(1, value()).ok());
  ASSERT_TRUE(array.close().ok());
  EXPECT_EQ(released, 2);
}

TEST(TensorArrayReentrancy, AContainerMakesArraysWithoutItsLock) {
  TensorArrayContainer container;
  AllocatorThatFirst allocator([&] { EXPECT_TRUE(container.make(1, DType::Float32, {.name = "x"}).ok()); });
  const TensorArrayOptions options{.element_shape = *Shape::make({2}), .contiguous = true, .name = "x"};
  const TensorArray made = container.make(2, DType::Float32, options, {.allocator = &allocator}).value();
  EXPECT_TRUE(container.find(made.name()).value() == made);
  EXPECT_GE(container.names().value().size(), 2u);
}

// Two threads of one pool. The tasks of each use the slot that the other thread's operation has claimed.
TEST(TensorArrayReentrancy, ManyThreadsAddToTheSameIndex) {
  TensorArray array = gradient_with(0);
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([&] {
      Executing executor = executor_that_first([&] { std::this_thread::yield(); });
      for (int i = 0; i < 20; ++i) EXPECT_TRUE(array.write(0, large(1), {.executor = &executor}).ok());
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(elements<float>(array.read(0).value())[5], 80);
}

}  // namespace
}  // namespace backslice
