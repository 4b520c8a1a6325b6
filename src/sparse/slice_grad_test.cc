#include <map>

#include "backslice/sparse_slice.h"
#include "sparse_rules.h"

namespace backslice {
namespace {

using namespace testing;

TEST(SparseSliceGrad, PutsGradientsWhereTheSliceTookValues) {
  const List input(Rows{{0, 1}, {1, 0}, {1, 2}, {3, 1}}, 2), output(Rows{{0, 0}, {0, 2}}, 2);
  const std::vector<float> grad = {5, 7};
  auto dx = sparse_slice_grad(view_of(grad, {2}), input.indices(), {1, 0}, output.indices());
  EXPECT_THAT(elements<float>(dx.value()), ElementsAre(0, 5, 7, 0));
}

TEST(SparseSliceGrad, MatchesInOrderAlsoWhereListsAreNotSorted) {
  const std::vector<float> grad = {1, 2};
  const auto run = [&](const Rows& input, const Rows& output) {
    return elements<float>(
        sparse_slice_grad(view_of(grad, {2}), List(input, 1).indices(), {0}, List(output, 1).indices()).value());
  };
  EXPECT_THAT(run({{4}, {9}, {4}}, {{9}, {4}}), ElementsAre(0, 1, 2));  // A, B, A with B, A
  EXPECT_THAT(run({{4}, {4}, {4}}, {{4}, {4}}), ElementsAre(1, 2, 0));  // duplicates in both: one each
  // duplicates in the input only: the first gets it
  EXPECT_THAT(run({{9}, {4}, {4}, {2}}, {{9}, {4}}), ElementsAre(1, 2, 0, 0));
}

TEST(SparseSliceGrad, RankZeroGivesTheFirstRows) {
  const std::vector<float> grad = {1, 2};
  const List input(Rows(3), 0), output(Rows(2), 0);
  EXPECT_THAT(elements<float>(sparse_slice_grad(view_of(grad, {2}), input.indices(), {}, output.indices()).value()),
              ElementsAre(1, 2, 0));
}

TEST(SparseSliceGrad, AgreesWithTheRuleOnRandomLists) {
  std::mt19937 random(1);
  for (int i = 0; i < 3000; ++i) {
    const int rank = static_cast<int>(random() % 7), extent = 1 + static_cast<int>(random() % 4);
    const Rows input = random_rows(random, random() % 30, rank, extent, random() % 2 == 0);
    Row start(static_cast<std::size_t>(rank)), size(static_cast<std::size_t>(rank));
    for (auto& s : start) s = static_cast<int>(random() % 3) - 1;
    for (auto& s : size) s = static_cast<int>(random() % 5);
    Rows output = window(input, start, size);
    if (random() % 4 == 0) std::shuffle(output.begin(), output.end(), random);
    if (random() % 4 == 0 && !output.empty()) output.pop_back();
    const auto grad = counting<float>(static_cast<std::int64_t>(output.size()));
    const List in(input, rank), out(output, rank);
    const ConstView dy = view_of(grad, {out.count});
    const bool by_columns = rank > 0 && i % 2 == 0;
    const CooIndices in_list = by_columns ? in.columns() : in.indices(), out_list = out.indices();
    expect_gradient(in_order(grad, input, start, output), output.size(),
                    sparse_slice_grad(dy, in_list, start, out_list));
    expect_gradient(in_any_order(grad, input, start, output), output.size(),
                    sparse_slice_grad(dy, in_list, start, out_list, MatchOrder::Any));
    const List<std::int32_t> in32(input, rank), out32(output, rank);
    expect_gradient(in_order(grad, input, start, output), output.size(),
                    sparse_slice_grad(dy, in32.indices(), start, out32.indices()));
  }
}

// Many pieces and threads. In sorted lists all guesses are right, in partly sorted lists some; and other lists.
TEST(SparseSliceGrad, AgreesWithTheRuleOnLongLists) {
  std::mt19937 random(2);
  const auto pool = make_thread_executor(3);
  for (int i = 0; i < 12; ++i) {
    const int extent = i % 3 == 0 ? 40 : 3000;  // with many or few duplicates
    Rows input = random_rows(random, 120'000, 2, extent, i % 4 != 3);
    if (i % 4 == 2) std::rotate(input.begin(), input.begin() + 50'000, input.end());
    const Row start = {extent / 4, 1}, size = {extent / 2, extent / 2};
    Rows output = window(input, start, size);
    if (i % 2 == 1) output.resize(output.size() / 2);
    const auto grad = counting<float>(static_cast<std::int64_t>(output.size()));
    const List in(input, 2), out(output, 2);
    const Truth truth = in_order(grad, input, start, output);
    for (Executor* executor : {&serial_executor(), pool.get()}) {
      const Context context{.executor = executor};
      expect_gradient(truth, output.size(),
                      sparse_slice_grad(view_of(grad, {out.count}), in.indices(), start, out.indices(),
                                        MatchOrder::InOrder, context));
      std::vector<float> into(input.size(), -1);
      ASSERT_TRUE(sparse_slice_grad_into(view_of(grad, {out.count}), in.indices(), start, out.indices(),
                                         view_of(into, {in.count}), MatchOrder::InOrder, Write::Overwrite, context)
                      .ok());
      EXPECT_EQ(into, truth.gradient);
    }
  }
}

TEST(SparseSliceGrad, AnyOrderMatchesShuffledRows) {
  std::mt19937 random(3);
  const auto pool = make_thread_executor(3);
  for (int extent : {50, 5000}) {
    Rows input = random_rows(random, 60'000, 3, extent, false);
    const Row start = {extent / 4, 0, 0}, size = {extent / 2, extent, extent};
    Rows output = window(input, start, size);
    std::shuffle(output.begin(), output.end(), random);
    const auto grad = counting<float>(static_cast<std::int64_t>(output.size()));
    std::map<Row, std::vector<float>> queues;
    for (std::size_t j = output.size(); j-- > 0;) queues[output[j]].push_back(grad[j]);
    std::vector<float> expected;
    for (const Row& row : input) {
      auto& queue = queues[{row[0] - start[0], row[1], row[2]}];
      expected.push_back(queue.empty() ? 0 : queue.back());
      if (!queue.empty()) queue.pop_back();
    }
    const Context context{.executor = pool.get()};
    const List in(input, 3), out(output, 3);
    EXPECT_EQ(elements<float>(sparse_slice_grad(view_of(grad, {out.count}), in.indices(), start, out.indices(),
                                                MatchOrder::Any, context)
                                  .value()),
              expected);
  }
}

// Indices so far apart that their positions do not fit 64 bits: the join hashes and compares.
TEST(SparseSliceGrad, AnyOrderTakesIndicesOfAnySize) {
  const Rows input = {{kMax, kMin, 5}, {0, 0, 0}, {kMin, kMax, 5}, {kMax, kMin, 5}, {1, 2, 3}};
  const Rows output = {{kMin, kMax, 5}, {1, 2, 3}, {kMax, kMin, 5}};
  const std::vector<float> grad = {1, 2, 3};
  EXPECT_THAT(elements<float>(sparse_slice_grad(view_of(grad, {3}), List(input, 3).indices(), {0, 0, 0},
                                                List(output, 3).indices(), MatchOrder::Any)
                                  .value()),
              ElementsAre(3, 0, 1, 0, 2));
}

TEST(SparseSliceGrad, SumsThatOverflowMatchNothing) {
  const std::vector<float> grad = {1};
  // kMax + 2 would wrap to kMin + 1.
  const List input(Rows{{kMin + 1}}, 1), output(Rows{{kMax}}, 1);
  for (MatchOrder order : {MatchOrder::InOrder, MatchOrder::Any}) {
    const auto dx = sparse_slice_grad(view_of(grad, {1}), input.indices(), {2}, output.indices(), order);
    EXPECT_EQ(dx.status().code(), StatusCode::Internal);
  }
  const List far(Rows{{kMax}}, 1), near(Rows{{0}}, 1);
  EXPECT_TRUE(sparse_slice_grad(view_of(grad, {1}), far.indices(), {kMax}, near.indices()).ok());
}

TEST(SparseSliceGrad, RefusesWhatDisagrees) {
  const std::vector<float> two = {1, 2};
  const ConstView grad = view_of(two, {2});
  const List pair(Rows{{0, 1}, {1, 0}}, 2), three(Rows{{0, 1}, {1, 0}, {2, 2}}, 2), narrow(Rows{{0}, {1}}, 1);
  const auto message = [](const auto& result) { return std::string(result.status().message()); };
  const auto scalar = ConstView::contiguous(two.data(), DType::Float32, {}).value();
  EXPECT_THAT(message(sparse_slice_grad(scalar, pair.indices(), {0, 0}, pair.indices())), HasSubstr("scalar"));
  EXPECT_THAT(message(sparse_slice_grad(grad, narrow.indices(), {0}, pair.indices())),
              HasSubstr("input_indices has 1 column, but output_indices has 2"));
  EXPECT_THAT(message(sparse_slice_grad(grad, pair.indices(), {0, 0}, three.indices())),
              HasSubstr("output_indices has 3 rows, more than input_indices, which has 2"));
  EXPECT_THAT(message(sparse_slice_grad(grad, three.indices(), {0, 0}, three.indices())),
              HasSubstr("backprop_val_grad has 2 rows, but output_indices has 3"));
  EXPECT_THAT(message(sparse_slice_grad(grad, pair.indices(), {0}, pair.indices())),
              HasSubstr("input_start has 1 item, expected 2"));
  const List<std::int32_t> pair32(Rows{{0, 1}, {1, 0}}, 2);
  EXPECT_THAT(message(sparse_slice_grad(grad, pair.indices(), {0, 0}, pair32.indices())), HasSubstr("int32"));
  EXPECT_THAT(message(sparse_slice_grad(grad, three.indices(), {1, 0}, pair.indices())),
              HasSubstr("Num elements:2, used: 0"));
}

TEST(SparseSliceGrad, LeavesOutAloneWhenRefused) {
  const std::vector<float> grad = {1, 2};
  std::vector<float> out = {7, 8, 9};
  const List input(Rows{{0}, {1}, {2}}, 1), output(Rows{{0}, {5}}, 1);
  for (MatchOrder order : {MatchOrder::InOrder, MatchOrder::Any}) {
    EXPECT_FALSE(
        sparse_slice_grad_into(view_of(grad, {2}), input.indices(), {0}, output.indices(), view_of(out, {3}), order)
            .ok());
    EXPECT_THAT(out, ElementsAre(7, 8, 9));
  }
  EXPECT_FALSE(sparse_slice_grad_by_size_into(view_of(grad, {2}), input.indices(), {0}, {3}, view_of(out, {3})).ok());
  EXPECT_THAT(out, ElementsAre(7, 8, 9));
}

TEST(SparseSliceGrad, AccumulatesIntoWhatIsThere) {
  const std::vector<float> grad = {1, 2};
  const List input(Rows{{0}, {1}, {2}}, 1), output(Rows{{0}, {1}}, 1);
  std::vector<float> out = {10, 20, 30};
  ASSERT_TRUE(sparse_slice_grad_into(view_of(grad, {2}), input.indices(), {1}, output.indices(), view_of(out, {3}),
                                     MatchOrder::InOrder, Write::Accumulate)
                  .ok());
  EXPECT_THAT(out, ElementsAre(10, 21, 32));
  ASSERT_TRUE(sparse_slice_grad_by_size_into(view_of(grad, {2}), input.indices(), {0}, {2}, view_of(out, {3}),
                                             Write::Accumulate)
                  .ok());
  EXPECT_THAT(out, ElementsAre(11, 23, 32));
}

TEST(SparseSliceGrad, MovesRowsOfValuesOfEveryDTypeAndLayout) {
  std::mt19937 random(4);
  const List input(Rows{{0}, {1}, {2}, {3}}, 1), output(Rows{{0}, {2}}, 1);
  for (DType dtype : all_dtypes()) {
    if (dtype == DType::String || dtype == DType::Bytes || !has_zero(dtype)) continue;
    for (const Row& inner : {Row{}, Row{3}, Row{2, 3}, Row{0}, Row{600}}) {
      Row grad_shape = inner, out_shape = inner;
      grad_shape.insert(grad_shape.begin(), 2);
      out_shape.insert(out_shape.begin(), 4);
      const RandomTensor grad = random_tensor(random, dtype, *Shape::make(grad_shape));
      RandomTensor out = random_tensor(random, dtype, *Shape::make(out_shape));
      auto made = sparse_slice_grad(grad.view, input.indices(), {1}, output.indices());
      ASSERT_TRUE(made.ok()) << made.status().message();
      ASSERT_TRUE(sparse_slice_grad_into(grad.view, input.indices(), {1}, output.indices(), out.view).ok());
      const auto size = static_cast<std::size_t>(item_size(dtype));
      const std::vector<std::byte> zero(size);
      for_each_index(out_shape, [&](const Row& index) {
        Row source = index;
        const bool taken = index[0] == 1 || index[0] == 3;
        source[0] = index[0] == 3;
        const std::byte* expected = taken ? address(grad.view, source) : zero.data();
        EXPECT_EQ(std::memcmp(address(made->view(), index), expected, size), 0) << name(dtype);
        EXPECT_EQ(std::memcmp(address(out.view, index), expected, size), 0) << name(dtype);
      });
    }
  }
}

// Rows whose elements run backwards in memory on both sides are one run of bytes, beginning at the row's last element.
TEST(SparseSliceGrad, RowsThatRunBackwardsOnBothSides) {
  const List input(Rows{{0}, {1}}, 1), output(Rows{{1}}, 1);
  constexpr std::int64_t kN = 4;
  const auto backwards = [](auto& data, std::int64_t rows, std::int64_t first) {
    using V = std::conditional_t<std::is_const_v<std::remove_reference_t<decltype(data)>>, ConstView, View>;
    return V::strided(data.data() + first * kN + kN - 1, {rows, kN}, {kN, -1}).value();
  };
  const std::vector<float> grad = counting<float>(kN);
  const ConstView dy = backwards(grad, 1, 0);
  for (bool accumulate : {false, true}) {
    std::vector<float> out(4 * kN, 9);  // one guard row before and one after
    const Write write = accumulate ? Write::Accumulate : Write::Overwrite;
    ASSERT_TRUE(sparse_slice_grad_into(dy, input.indices(), {0}, output.indices(), backwards(out, 2, 1),
                                       MatchOrder::InOrder, write)
                    .ok());
    const float b = accumulate ? 9 : 0;
    EXPECT_THAT(out, ElementsAre(9, 9, 9, 9, b, b, b, b, b + 1, b + 2, b + 3, b + 4, 9, 9, 9, 9));
    std::fill(out.begin(), out.end(), 9.f);
    ASSERT_TRUE(sparse_slice_grad_by_size_into(dy, input.indices(), {1}, {1}, backwards(out, 2, 1), write).ok());
    EXPECT_THAT(out, ElementsAre(9, 9, 9, 9, b, b, b, b, b + 1, b + 2, b + 3, b + 4, 9, 9, 9, 9));
  }
  const auto y = sparse_slice(input.indices(), backwards(grad, 1, 0), {2}, {0}, {2});
  EXPECT_FALSE(y.ok());  // two entries, one row of values
}

// Values without elements may have no memory; the rows are matched anyway.
TEST(SparseSliceGrad, RowsOfNoElementsAreMatched) {
  const List input(Rows{{0}, {1}, {2}}, 1), output(Rows{{0}, {2}}, 1), other(Rows{{0}, {5}}, 1);
  const ConstView grad = ConstView::contiguous(nullptr, DType::Float32, {2, 0}).value();
  const View out = View::contiguous(nullptr, DType::Float32, {3, 0}).value();
  for (bool accumulate : {false, true}) {
    const Write write = accumulate ? Write::Accumulate : Write::Overwrite;
    EXPECT_TRUE(
        sparse_slice_grad_into(grad, input.indices(), {0}, output.indices(), out, MatchOrder::InOrder, write).ok());
    EXPECT_TRUE(sparse_slice_grad_by_size_into(grad, input.indices(), {0}, {2}, out, write).ok());
    EXPECT_FALSE(
        sparse_slice_grad_into(grad, input.indices(), {0}, other.indices(), out, MatchOrder::InOrder, write).ok());
  }
  EXPECT_FALSE(sparse_slice_grad(grad, input.indices(), {0}, other.indices()).ok());
  const ConstView values = ConstView::contiguous(nullptr, DType::Float32, {3, 0}).value();
  EXPECT_EQ(sparse_slice(input.indices(), values, {3}, {1}, {2}).value().values.shape()[0], 2);
  const CooIndices none = CooIndices::from_matrix(ConstView::contiguous(nullptr, DType::Int64, {0, 2}).value()).value();
  const ConstView nothing = ConstView::contiguous(nullptr, DType::Float32, {0}).value();
  EXPECT_TRUE(sparse_slice_grad(nothing, none, {0, 0}, none).ok());
}

}  // namespace
}  // namespace backslice
