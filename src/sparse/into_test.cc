// Slices of sparse tensors into the caller's memory: count, then fill.
#include "testing.h"

namespace backslice {
namespace {

using namespace testing;

constexpr auto kInvalid = StatusCode::InvalidArgument;

struct Sparse {
  std::vector<std::int64_t> rows = {0, 3, 1, 1, 1, 4, 2, 2};
  std::vector<float> values = {1, 2, 3, 4};
  CooIndices indices() const { return CooIndices::from_matrix(view_of(rows, {4, 2})).value(); }
  ConstView view() const { return view_of(values, {4}); }
};

TEST(SparseSliceInto, WritesWhatSparseSliceReturns) {
  const Sparse x;
  const std::int64_t count = sparse_slice_count(x.indices(), {1, 1}, {2, 3}).value();
  ASSERT_EQ(count, 2);
  std::vector<std::int64_t> rows(4, -1);
  std::vector<float> values(2, -1);
  const auto shape =
      sparse_slice_into(x.indices(), x.view(), {3, 5}, {1, 1}, {2, 3}, view_of(rows, {2, 2}), view_of(values, {2}));
  ASSERT_TRUE(shape.ok()) << shape.status().to_string();
  SparseTensor expected = sparse_slice(x.indices(), x.view(), {3, 5}, {1, 1}, {2, 3}).value();
  EXPECT_EQ(*shape, expected.shape);
  EXPECT_EQ(rows, elements<std::int64_t>(expected.indices));
  EXPECT_EQ(values, elements<float>(expected.values));
}

TEST(SparseSliceInto, TakesAnyStrides) {
  const Sparse x;
  std::vector<std::int64_t> columns(4, -1);
  std::vector<float> backwards(2, -1);
  const View rows = View::strided(columns.data(), {2, 2}, {1, 2}).value();
  const View values = View::strided(backwards.data() + 1, {2}, {-1}).value();
  ASSERT_TRUE(sparse_slice_into(x.indices(), x.view(), {3, 5}, {1, 1}, {2, 3}, rows, values).ok());
  EXPECT_THAT(columns, ElementsAre(0, 1, 0, 1));
  EXPECT_THAT(backwards, ElementsAre(4, 2));
}

TEST(SparseSliceInto, RefusesOutputsThatDoNotFit) {
  Sparse x;
  std::vector<std::int64_t> rows(6, -1);
  std::vector<float> values(3, -1);
  const auto into = [&](const View& out_rows, const View& out_values) {
    return sparse_slice_into(x.indices(), x.view(), {3, 5}, {1, 1}, {2, 3}, out_rows, out_values);
  };
  EXPECT_TRUE(is_error(into(view_of(rows, {3, 2}), view_of(values, {2})), kInvalid, "out_indices", "[2,2]"));
  EXPECT_TRUE(is_error(into(view_of(rows, {2, 2}), view_of(values, {3})), kInvalid, "out_values", "[2]"));
  EXPECT_TRUE(is_error(into(view_of(values, {2, 2}), view_of(values, {2})), kInvalid));
  EXPECT_TRUE(is_error(into(view_of(rows, {2, 2}), view_of(x.values, {2})), kInvalid, "shares memory with values"));
  EXPECT_TRUE(is_error(into(view_of(x.rows, {2, 2}), view_of(values, {2})), kInvalid, "shares memory with indices"));
  const View folded = View::strided(rows.data(), {2, 2}, {1, 1}).value();
  EXPECT_TRUE(is_error(into(folded, view_of(values, {2})), kInvalid, "overlaps itself"));
  const View indices_again = View::contiguous(rows.data(), DType::Float32, {2}).value();
  EXPECT_TRUE(
      is_error(into(view_of(rows, {2, 2}), indices_again), kInvalid, "out_indices shares memory with out_values"));
  EXPECT_TRUE(is_error(sparse_slice_count(x.indices(), {1}, {2, 3}), kInvalid, "start has 1 item,"));
  EXPECT_THAT(rows, ElementsAre(-1, -1, -1, -1, -1, -1));
  EXPECT_THAT(values, ElementsAre(-1, -1, -1));
}

}  // namespace
}  // namespace backslice
