// Rows moved as a matcher says, in every way the kernel can run, against the reference.
#include <deque>
#include <map>

#include "kernel_contexts.h"
#include "kernels/sparse/join.h"
#include "kernels/sparse/kernel.h"
#include "testing.h"

namespace backslice {
namespace {

using namespace testing;

class SparseKernel : public ::testing::TestWithParam<KernelWay> {
 protected:
  // The rows that fall into a window, and the gradient's rows for them.
  void expect_same(std::mt19937& random, std::int64_t rows, Ints row_shape, DType dtype) {
    std::vector<std::int64_t> index(static_cast<std::size_t>(rows));
    for (auto& i : index) i = static_cast<std::int64_t>(random() % 10);
    const auto indices = CooIndices::from_matrix(view_of(index, {rows, 1})).value();
    const auto matcher = match_window(indices, {2}, {static_cast<std::int64_t>(random() % 9)});
    const std::int64_t found = matcher->count({0, rows}, 0);
    const auto shape = [&](std::int64_t n) {
      Dims dims(std::vector<std::int64_t>{n});
      for (std::int64_t extent : row_shape) dims.push_back(extent);
      return dims;
    };
    const bool dense = random() % 2 == 0;
    RandomTensor out =
        dense ? contiguous_tensor(random, dtype, shape(rows)) : random_tensor(random, dtype, shape(rows));
    RandomTensor grad =
        dense ? contiguous_tensor(random, dtype, shape(found)) : random_tensor(random, dtype, shape(found));
    remove_nans(out.memory);
    remove_nans(grad.memory);
    // In two parts, as threads would.
    const std::int64_t middle = rows / 3, before = matcher->count({0, middle}, 0);
    const KernelContext& context = GetParam().context;
    EXPECT_EQ(run_on_copy(out,
                          [&](const View& view) {
                            write_gradient(*matcher, {0, middle}, {0, before}, grad.view, view, context);
                            EXPECT_EQ(
                                write_gradient(*matcher, {middle, rows}, {before, found}, grad.view, view, context),
                                found);
                          }),
              run_on_copy(out, [&](const View& view) {
                EXPECT_EQ(reference::write_gradient(*matcher, {0, rows}, {0, found}, grad.view, view), found);
              }));
    EXPECT_EQ(run_on_copy(out,
                          [&](const View& view) {
                            add_gradient(*matcher, {0, middle}, {0, before}, grad.view, view, context);
                            add_gradient(*matcher, {middle, rows}, {before, found}, grad.view, view, context);
                          }),
              run_on_copy(out, [&](const View& view) {
                reference::add_gradient(*matcher, {0, rows}, {0, found}, grad.view, view);
              }));
  }
};

TEST_P(SparseKernel, MovesAndAddsRows) {
  std::mt19937 random(41);
  for (DType dtype : {DType::Float32, DType::Int8, DType::Complex128, DType::BFloat16, DType::Float16}) {
    for (std::int64_t rows : {0, 1, 70, 2500}) {
      expect_same(random, rows, {}, dtype);
      expect_same(random, rows, {3}, dtype);
    }
    expect_same(random, 12, {40, 60}, dtype);  // rows longer than a block
    expect_same(random, 5, {2, 0}, dtype);
  }
}

TEST_P(SparseKernel, JoinsInAnyOrder) {
  std::mt19937 random(42);
  for (std::int64_t rows : {0, 1, 500, 40'000}) {
    std::vector<std::int64_t> input(static_cast<std::size_t>(rows)), output;
    for (auto& i : input) i = static_cast<std::int64_t>(random() % 1000);
    std::vector<std::int32_t> expected(input.size(), -1);
    for (std::size_t i = 0; i < input.size(); ++i) {
      if (i % 3 != 0) continue;
      output.push_back(input[i] - 5);
    }
    std::shuffle(output.begin(), output.end(), random);
    std::map<std::int64_t, std::deque<std::int32_t>> waiting;
    for (std::size_t j = 0; j < output.size(); ++j) waiting[output[j] + 5].push_back(static_cast<std::int32_t>(j));
    for (std::size_t i = 0; i < input.size(); ++i) {
      auto& queue = waiting[input[i]];
      if (queue.empty()) continue;
      expected[i] = queue.front();
      queue.pop_front();
    }
    const auto count = static_cast<std::int64_t>(output.size());
    const Joined joined =
        join_in_any_order(CooIndices::from_matrix(view_of(input, {rows, 1})).value(), {5},
                          CooIndices::from_matrix(view_of(output, {count, 1})).value(), GetParam().context);
    EXPECT_EQ(joined.found, count);
    EXPECT_EQ(std::vector<std::int32_t>(joined.rows(), joined.rows() + rows), expected);
  }
}

INSTANTIATE_TEST_SUITE_P(Ways, SparseKernel, ::testing::ValuesIn(kernel_ways()),
                         [](const auto& info) { return info.param.name; });

}  // namespace
}  // namespace backslice
