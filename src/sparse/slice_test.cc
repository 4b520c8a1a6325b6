#include "backslice/sparse_slice.h"
#include "sparse_rules.h"

namespace backslice {
namespace {

using namespace testing;

TEST(SparseSlice, KeepsTheWindow) {
  const List input(Rows{{0, 1}, {1, 0}, {1, 2}, {3, 1}}, 2);
  const std::vector<float> values = {1, 2, 3, 4};
  auto y = sparse_slice(input.indices(), view_of(values, {4}), {4, 3}, {1, 0}, {2, 5});
  ASSERT_TRUE(y.ok()) << y.status().message();
  EXPECT_THAT(elements<std::int64_t>(y->indices), ElementsAre(0, 0, 0, 2));
  EXPECT_THAT(elements<float>(y->values), ElementsAre(2, 3));
  EXPECT_THAT(Ints(y->shape), ElementsAre(2, 3));
}

TEST(SparseSlice, ShapesAndWindowsOfAllKinds) {
  const std::vector<float> one = {1};
  struct Case {
    std::int64_t n, start, size, index;
    bool kept;
    std::int64_t result;
  };
  for (const Case& c :
       {Case{4, -1, 10, 2, true, 5}, Case{4, -1, 3, 2, false, 3}, Case{4, 2, kMax, 3, true, 2},
        Case{4, 9, 1, 2, false, 0}, Case{4, 0, 0, 0, false, 0}, Case{4, 2, 9, 7, true, 2},
        Case{4, kMin, kMax, -5, true, kMax}, Case{4, kMax, kMax, kMin, false, 0}, Case{4, kMin, 1, kMin, true, 1}}) {
    const List input(Rows{{c.index}}, 1);
    auto y = sparse_slice(input.indices(), view_of(one, {1}), {c.n}, {c.start}, {c.size});
    ASSERT_TRUE(y.ok()) << y.status().message();
    EXPECT_EQ(y->values.shape()[0], c.kept) << c.start << " " << c.size;
    EXPECT_EQ(y->shape[0], c.result) << c.start << " " << c.size;
    if (c.kept) {
      EXPECT_EQ(elements<std::int64_t>(y->indices)[0], c.index - c.start);
    }
  }
}

TEST(SparseSlice, AgreesWithTheRuleAndTheGradientIsItsAdjoint) {
  std::mt19937 random(5);
  const auto pool = make_thread_executor(3);
  for (int i = 0; i < 300; ++i) {
    const int rank = static_cast<int>(random() % 6);
    const Rows input = random_rows(random, i % 50 == 0 ? 100'000 : random() % 40, rank, 6, false);
    Row start(static_cast<std::size_t>(rank)), size = start, shape(static_cast<std::size_t>(rank), 6);
    for (auto& s : start) s = static_cast<int>(random() % 5) - 2;
    for (auto& s : size) s = static_cast<int>(random() % 7);
    std::vector<std::size_t> kept;
    const Rows expected = window(input, start, size, &kept);
    const List in(input, rank), want(expected, rank);
    const auto x = counting<float>(in.count);
    const Context context{.executor = pool.get()};
    for (bool by_columns : {false, true}) {
      if (by_columns && rank == 0) continue;
      const CooIndices list = by_columns ? in.columns() : in.indices();
      auto y = sparse_slice(list, view_of(x, {in.count}), shape, start, size, context);
      ASSERT_TRUE(y.ok()) << y.status().message();
      ASSERT_EQ(y->values.shape()[0], want.count);
      for_each_index(y->indices.shape(), [&](const Row& at) {
        std::int64_t index;
        std::memcpy(&index, address(y->indices.view(), at), sizeof(index));
        EXPECT_EQ(index, expected[static_cast<std::size_t>(at[0])][static_cast<std::size_t>(at[1])]);
      });
      double forward = 0, backward = 0;  // <slice(x), dy> = <x, grad(dy)>
      const auto dy = counting<float>(want.count);
      auto values = elements<float>(y->values);
      for (std::size_t k = 0; k < values.size(); ++k) {
        EXPECT_EQ(values[k], x[kept[k]]);
        forward += double{values[k]} * dy[k];
      }
      auto dx = sparse_slice_grad_by_size(view_of(dy, {want.count}), list, start, size, context);
      ASSERT_TRUE(dx.ok()) << dx.status().message();
      const auto gradient = elements<float>(*dx);
      for (std::size_t k = 0; k < x.size(); ++k) backward += double{x[k]} * gradient[k];
      EXPECT_EQ(forward, backward);
    }
  }
}

TEST(SparseSlice, MovesStringsAndRows) {
  const List input(Rows{{0}, {1}, {2}}, 1);
  const std::vector<std::string> words = {"a", "some words that need memory of their own", "c"};
  auto y = sparse_slice(input.indices(), view_of(words, {3}), {3}, {1}, {2});
  EXPECT_THAT(elements<std::string>(y.value().values), ElementsAre(words[1], "c"));
  const auto rows = counting<float>(6);
  auto z = sparse_slice(input.indices(), view_of(rows, {3, 2}), {3}, {1}, {1});
  EXPECT_THAT(elements<float>(z.value().values), ElementsAre(3, 4));
}

TEST(SparseSlice, RefusesWhatDisagrees) {
  const List input(Rows{{0, 0}, {1, 1}}, 2);
  const std::vector<float> two = {1, 2}, one = {1};
  const auto message = [&](const ConstView& values, Ints shape, Ints start, Ints size) {
    return std::string(sparse_slice(input.indices(), values, shape, start, size).status().message());
  };
  EXPECT_THAT(message(view_of(one, {1}), {2, 2}, {0, 0}, {1, 1}),
              HasSubstr("Number of elements in indices (2) and values (1) do not match"));
  EXPECT_THAT(message(view_of(two, {2}), {2}, {0, 0}, {1, 1}), HasSubstr("indices has 2 columns"));
  EXPECT_THAT(message(view_of(two, {2}), {2, -2}, {0, 0}, {1, 1}), HasSubstr("must be >= 0"));
  EXPECT_THAT(message(view_of(two, {2}), {kMax, kMax}, {0, 0}, {1, 1}), HasSubstr("2**63"));
  EXPECT_THAT(message(view_of(two, {2}), {2, 2}, {0}, {1, 1}), HasSubstr("start has 1 item,"));
  EXPECT_THAT(message(view_of(two, {2}), {2, 2}, {0, 0}, {1}), HasSubstr("size has 1 item,"));
  EXPECT_THAT(message(view_of(two, {2}), {2, 2}, {5, 5}, {1, -1}), HasSubstr("Expected a non-negative size, got -1"));
  const List<std::int32_t> small(Rows{{0, 0}, {1, 1}}, 2);
  EXPECT_FALSE(sparse_slice(small.indices(), view_of(two, {2}), {2, 2}, {-5, 0}, {kMax, 1}).ok());
}

TEST(CooIndices, RefusesOtherShapesAndTypes) {
  const std::vector<std::int64_t> four = {0, 1, 2, 3};
  const std::vector<float> floats = {0, 1};
  EXPECT_FALSE(CooIndices::from_matrix(view_of(four, {4})).ok());
  EXPECT_FALSE(CooIndices::from_matrix(view_of(four, {2, 2, 1})).ok());
  EXPECT_FALSE(CooIndices::from_matrix(view_of(floats, {1, 2})).ok());
  EXPECT_FALSE(CooIndices::from_columns({}).ok());
  const std::vector<ConstView> uneven = {view_of(four, {4}), view_of(four, {3})};
  EXPECT_THAT(std::string(CooIndices::from_columns(uneven).status().message()), HasSubstr("has 3 items"));
}

}  // namespace
}  // namespace backslice
