// Every result comes from the caller's allocator where there is one, and what it gives is checked.
#include "backslice/allocator.h"

#include <cstdlib>
#include <new>
#include <stdexcept>

#include "testing.h"

namespace backslice {
namespace {

using namespace testing;

// Counts, fills with a pattern so that nobody relies on zeros, and fails or misbehaves when told to.
class TestAllocator final : public Allocator {
 public:
  enum class Mood { Well, Refuses, Throws, ThrowsBoom, GivesNothing, GivesCrooked };

  Result<Buffer> allocate(std::int64_t bytes, Contents contents) override {
    ++calls;
    asked_for_zeros |= contents == Contents::Zero;
    if (mood == Mood::Refuses) return Status(StatusCode::ResourceExhausted, "the arena is full");
    if (mood == Mood::Throws) throw std::bad_alloc();
    if (mood == Mood::ThrowsBoom) throw std::runtime_error("boom");
    if (mood == Mood::GivesNothing) return Buffer();
    const auto room = static_cast<std::size_t>((bytes + 2 * kAlignment) / kAlignment * kAlignment);
    auto* data = static_cast<std::byte*>(std::aligned_alloc(kAlignment, room));
    std::memset(data, contents == Contents::Zero ? 0 : 0x5a, room);
    ++living;
    const Buffer whole = Buffer::own(data, [this](std::byte* p) {
      std::free(p);
      --living;
    });
    if (mood != Mood::GivesCrooked) return whole;
    return Buffer::wrap(std::make_shared<Buffer>(whole), data + 1);
  }

  bool has_free_zeros() const override { return free_zeros; }

  Mood mood = Mood::Well;
  int calls = 0, living = 0;
  bool free_zeros = false, asked_for_zeros = false;
};

struct Operation {
  const char* name;
  std::function<Status(const Context&)> run;
};

std::vector<Operation> operations() {
  static const auto x = counting<float>(12);
  static const std::vector<std::int64_t> rows = {0, 1, 2, 3};
  const ConstView matrix = view_of(x, {3, 4});
  const Selection s = at({3, 4}, "1:, ::2");
  const ConstView dy = ConstView::contiguous(x.data(), DType::Float32, {2, 2}).value();
  const auto list = CooIndices::from_matrix(view_of(rows, {4, 1})).value();
  const auto four = ConstView::contiguous(x.data(), DType::Float32, {4}).value();
  return {
      {"slice", [=](const Context& c) { return slice(s, matrix, c).status(); }},
      {"slice_grad", [=](const Context& c) { return slice_grad(s, dy, c).status(); }},
      {"multi_slice_grad",
       [=](const Context& c) { return multi_slice_grad({3, 4}, std::vector<SliceGradient>{{s, dy}}, c).status(); }},
      {"sparse_slice", [=](const Context& c) { return sparse_slice(list, four, {4}, {1}, {2}, c).status(); }},
      {"sparse_slice_grad",
       [=](const Context& c) { return sparse_slice_grad(four, list, {0}, list, MatchOrder::InOrder, c).status(); }},
      {"sparse_slice_grad_any",
       [=](const Context& c) { return sparse_slice_grad(four, list, {0}, list, MatchOrder::Any, c).status(); }},
      {"sparse_slice_grad_by_size",
       [=](const Context& c) { return sparse_slice_grad_by_size(four, list, {0}, {4}, c).status(); }},
      {"ragged_gradient",
       [=](const Context& c) {
         const auto row = [](float v) { return *RaggedTensor::make(tensor_of<float>({v, v}, {2}), {}); };
         const auto array = VariantArray::make({row(1), row(2)}, {2}).value();
         const Tensor splits = tensor_of<std::int64_t>({0, 2, 4}, {3});
         return ragged_tensor_to_variant_gradient(array, {splits}, {4}, {}, c).status();
       }},
      {"tensor_array_stack",
       [=](const Context& c) {
         TensorArray array = TensorArray::make(2, DType::Float32).value();
         for (int i : {0, 1}) {
           if (Status status = array.write(i, tensor_of<float>({1, 2}, {2}), c); !status.ok()) return status;
         }
         return array.stack(c).status();
       }},
      {"grad_buffer", [=](const Context& c) { return GradBuffer::make(DType::Int8, {2, 3}, 0, c).status(); }},
      {"tensor_array_block",
       [=](const Context& c) {
         return TensorArray::make(2, DType::Float32, {.element_shape = *Shape::make({2}), .contiguous = true}, c)
             .status();
       }},
  };
}

TEST(Allocator, GivesTheMemoryOfEveryResultAndGetsItBack) {
  for (const Operation& operation : operations()) {
    TestAllocator allocator;
    EXPECT_TRUE(operation.run({.allocator = &allocator}).ok()) << operation.name;
    EXPECT_GT(allocator.calls, 0) << operation.name;
    EXPECT_EQ(allocator.living, 0) << operation.name;
  }
}

TEST(Allocator, MayRefuse) {
  for (const Operation& operation : operations()) {
    for (auto mood : {TestAllocator::Mood::Refuses, TestAllocator::Mood::Throws, TestAllocator::Mood::GivesNothing}) {
      TestAllocator allocator;
      allocator.mood = mood;
      EXPECT_TRUE(is_error(operation.run({.allocator = &allocator}), StatusCode::ResourceExhausted)) << operation.name;
      EXPECT_EQ(allocator.living, 0) << operation.name;
    }
  }
}

TEST(Allocator, IsNamedInTheErrorOfWhatItThrows) {
  for (const Operation& operation : operations()) {
    TestAllocator allocator;
    allocator.mood = TestAllocator::Mood::ThrowsBoom;
    EXPECT_TRUE(is_error(operation.run({.allocator = &allocator}), StatusCode::Internal,
                         "the allocator threw an exception: boom"))
        << operation.name;
    allocator.mood = TestAllocator::Mood::Throws;
    EXPECT_TRUE(is_error(operation.run({.allocator = &allocator}), StatusCode::ResourceExhausted, "the allocator"))
        << operation.name;
  }
}

TEST(Allocator, MustKeepToTheAlignment) {
  TestAllocator allocator;
  allocator.mood = TestAllocator::Mood::GivesCrooked;
  const std::vector<float> dy = {1};
  EXPECT_TRUE(is_error(slice_grad(at({4}, "1:2"), view_of(dy, {1}), {.allocator = &allocator}), StatusCode::Internal,
                       "not aligned to 64 bytes"));
  EXPECT_EQ(allocator.living, 0);
}

TEST(Allocator, WithoutFreeZerosGradientsAreWrittenWhole) {
  TestAllocator allocator;
  const std::vector<float> dy = {7};
  Tensor dx = slice_grad(at({1 << 20}, "5:6"), view_of(dy, {1}), {.allocator = &allocator}).value();
  const auto all = dx.elements<float>().value();
  EXPECT_EQ(all[5], 7);
  EXPECT_EQ(std::count(all.begin(), all.end(), 0.0f), (1 << 20) - 1);
}

TEST(Allocator, FreeZerosAreAskedForWhereManySlicesTakeLittle) {
  TestAllocator allocator;
  allocator.free_zeros = true;
  constexpr std::int64_t kElements = 1 << 23;  // so many that the pages taken are few, also where a page has 64 KiB
  const std::vector<float> dy(kElements / 2, 7);
  const auto slice_at = [&](std::string_view index) {
    const Selection s = at({kElements}, index);
    return SliceGradient{s, ConstView::contiguous(dy.data(), DType::Float32, s.result_shape()).value()};
  };
  const auto gradient = [&](const std::vector<SliceGradient>& slices) {
    allocator.asked_for_zeros = false;
    return multi_slice_grad({kElements}, slices, {.allocator = &allocator}).value();
  };
  Tensor few = gradient({slice_at("5:6"), slice_at("5:7"), slice_at("-1:")});
  EXPECT_TRUE(allocator.asked_for_zeros);
  const auto all = few.elements<float>().value();
  EXPECT_EQ(all[5], 14);
  EXPECT_EQ(all[6], 7);
  EXPECT_EQ(all[kElements - 1], 7);
  EXPECT_EQ(std::count(all.begin(), all.end(), 0.0f), kElements - 3);
  gradient({slice_at("5:6"), slice_at("::2")});
  EXPECT_FALSE(allocator.asked_for_zeros);
  gradient({slice_at("5:6"), slice_at("1000000:3000000")});
  EXPECT_FALSE(allocator.asked_for_zeros);
  allocator.free_zeros = false;
  gradient({slice_at("5:6")});
  EXPECT_FALSE(allocator.asked_for_zeros);
}

TEST(Allocator, HoldsStringsThatEndBeforeTheirMemory) {
  TestAllocator allocator;
  {
    const std::vector<std::string> x = {"a string too long to be stored in place", "b", "c"};
    const Tensor y = slice(at({3}, "::2"), view_of(x, {3}), {.allocator = &allocator}).value();
    EXPECT_EQ(allocator.living, 1);
    EXPECT_EQ(reinterpret_cast<const std::string*>(y.data())[0], x[0]);
  }
  EXPECT_EQ(allocator.living, 0);
}

}  // namespace
}  // namespace backslice
