// A Context's effect on ragged operations: the test that cancels them, and the memory they use.
#include "backslice/ragged_variant.h"
#include "ragged_tensors.h"

namespace backslice {
namespace {

using namespace testing;

// Rows without values are work, too.
TEST(RaggedCancellation, IsAskedForWhileRowsAreCounted) {
  constexpr std::int64_t kRows = 100'000;
  const Tensor zeros = Tensor::make(DType::Int64, *Shape::make({kRows + 1}), 0, Contents::Zero).value();
  const RaggedTensor rt = RaggedTensor::make(vector_of({}), {zeros}).value();
  const Selection s = rows(kRows, "::-1");
  std::vector<float> none;
  std::vector<std::int64_t> splits(kRows + 1);
  const RaggedView out{{view_of(splits, {kRows + 1})}, view_of(none, {0})};
  const CancelledTest at_once = [] { return true; };
  const Context context{.cancelled = &at_once};
  const auto expect_cancelled = [](const Status& status) { EXPECT_EQ(status.code(), StatusCode::Cancelled); };
  expect_cancelled(RaggedTensor::make(vector_of({}), {zeros}, context).status());
  expect_cancelled(RaggedTensor::from_row_lengths(vector_of({}), {zeros}, context).status());
  expect_cancelled(ragged_slice(s, rt, context).status());
  expect_cancelled(ragged_slice_size(s, rt, context).status());
  expect_cancelled(ragged_slice_into(s, rt, out, context));
  expect_cancelled(ragged_slice_grad(s, rt, view_of(none, {0}), context).status());
  expect_cancelled(ragged_slice_grad_into(s, rt, view_of(none, {0}), view_of(none, {0}), Write::Overwrite, context));
  const VariantArray batch = ragged_tensor_to_variant(rt).value();
  expect_cancelled(ragged_tensor_from_variant_size(batch, 0, 1, {.splits = DType::Int32}, context).status());
}

// Cancels at each possible check: rows are checked while they are counted and while they are written.
TEST(RaggedCancellation, CanComeAtEveryAsk) {
  const RaggedTensor rt = RaggedTensor::make(vector_of(counting<float>(5000)), {splits_of([] {
                                               auto list = counting<std::int64_t>(5001);
                                               for (auto& split : list) --split;
                                               return list;
                                             }())})
                              .value();
  const Selection s = rows(5000, "::-1");
  const Tensor dy = vector_of(counting<float>(5000));
  int asks = 0, allowed = 0;
  const CancelledTest test = [&] { return ++asks > allowed; };
  const Context context{.cancelled = &test};
  while (!ragged_slice_grad(s, rt, dy.view(), context).ok()) {
    asks = 0;
    ASSERT_LT(++allowed, 1000);
  }
  EXPECT_GE(allowed, 8);  // 5,000 rows counted and 5,000 put in order, checked at every 1024th
}

// Only results are allocated one by one, splits among them.
class CountingAllocator final : public Allocator {
 public:
  Result<Buffer> allocate(std::int64_t bytes, Contents contents) override {
    ++calls;
    return pool_allocator().allocate(bytes, contents);
  }
  int calls = 0;
};

TEST(RaggedAllocations, SplitsComeFromTheContextsAllocator) {
  CountingAllocator allocator;
  const Context context{.allocator = &allocator};
  const auto counted = [&](const auto& call) {
    allocator.calls = 0;
    EXPECT_TRUE(call().ok());
    return allocator.calls;
  };
  const RaggedTensor rt = deep();
  const VariantArray batch = ragged_tensor_to_variant(rt).value();
  const VariantArray listed = VariantArray::make({rt, rt}, {2}).value();
  const VariantArray some = VariantArray::make({piece({1, 2}), std::nullopt}, {2}).value();
  const Tensor values = vector_of({1, 2, 3}), splits = splits_of({0, 1, 3}), lengths = splits_of({1, 2});
  EXPECT_EQ(counted([&] { return RaggedTensor::make(values, {splits}, context); }), 1);
  EXPECT_EQ(counted([&] { return RaggedTensor::from_row_lengths(values, {lengths}, context); }), 1);
  EXPECT_EQ(counted([&] { return rt.slice_rows(1, 3, context); }), 2);
  EXPECT_EQ(counted([&] { return rt.row(2, context); }), 2);
  EXPECT_EQ(counted([&] { return batch.at(2, context); }), 2);
  EXPECT_EQ(counted([&] { return ragged_slice(rows(3, "::-1"), rt, context); }), 3);
  EXPECT_EQ(counted([&] { return ragged_tensor_from_variant(listed, 2, 3, {}, context); }), 4);
  EXPECT_EQ(counted([&] { return ragged_tensor_to_variant_gradient(some, {splits_of({0, 2, 3})}, {3}, {}, context); }),
            2);
  std::vector<float> out(6);
  std::vector<std::int64_t> outer(4), inner(4);
  EXPECT_EQ(counted([&] {
              return ragged_slice_into(rows(3, ":"), rt,
                                       {{view_of(outer, {4}), view_of(inner, {4})}, view_of(out, {6})}, context);
            }),
            0);
}

// Rows whose splits have the wrong dtype are made before the error is found.
TEST(RaggedAllocations, CountingTakesItsMemoryFromTheContextsAllocatorToo) {
  CountingAllocator allocator;
  const VariantArray batch = ragged_tensor_to_variant(deep()).value();
  const FromVariantTypes narrow{.splits = DType::Int32};
  EXPECT_FALSE(ragged_tensor_from_variant_size(batch, 1, 2, narrow, {.allocator = &allocator}).ok());
  EXPECT_GT(allocator.calls, 0);
}

}  // namespace
}  // namespace backslice
