// Rows of a sparse tensor and of its slice: found, moved and added, on one thread, since the callers of these kernels
// cut the rows. The join cuts its rows itself, and runs on all threads.
#include <algorithm>
#include <random>

#include "kernel_bench.h"
#include "kernels/sparse/kernel.h"
#include "kernels/sparse/matcher.h"

namespace backslice {
namespace {

using bench::bytes_of, bench::touched;

constexpr std::int64_t kRows = 1 << 20, kColumns = 1024, kRank = 2;

using Index = std::vector<std::int64_t>;

CooIndices indices_of(const Index& index) {
  const auto rows = static_cast<std::int64_t>(index.size()) / kRank;
  return CooIndices::from_matrix(ConstView::contiguous(index.data(), DType::Int64, {rows, kRank}).value()).value();
}

// A matrix with one entry of `width` floats in each of its columns, row by row; the slice takes half the columns.
struct Entries {
  Index index, slice_index;
  CooIndices indices, slice_indices;
  std::unique_ptr<Matcher> matcher;
  std::int64_t found;
  Tensor out, grad, out_indices;

  explicit Entries(std::int64_t width)
      : index(make_index(kColumns)),
        slice_index(make_index(kColumns / 2)),
        indices(indices_of(index)),
        slice_indices(indices_of(slice_index)),
        matcher(match_window(indices, {0, 0}, {kRows, kColumns / 2}, *active_target().rows)),
        found(matcher->count({0, kRows}, 0)),
        out(touched(DType::Float32, Shape::make({kRows, width}).value())),
        grad(touched(DType::Float32, Shape::make({found, width}).value())),
        out_indices(touched(DType::Int64, Shape::make({found, kRank}).value())) {}

  static Index make_index(std::int64_t columns) {
    Index index;
    for (std::int64_t i = 0; i < kRows / kColumns; ++i) {
      for (std::int64_t j = 0; j < columns; ++j) index.insert(index.end(), {i, j});
    }
    return index;
  }
};

Index shuffled(const Index& index) {
  std::vector<std::int64_t> order(index.size() / kRank);
  for (std::size_t i = 0; i < order.size(); ++i) order[i] = static_cast<std::int64_t>(i);
  std::shuffle(order.begin(), order.end(), std::mt19937(1));
  Index result;
  for (std::int64_t row : order) {
    const auto from = index.begin() + row * kRank;
    result.insert(result.end(), from, from + kRank);
  }
  return result;
}

ExecutionPolicy on_one_thread(std::int64_t bytes) {
  ExecutionPolicy policy = policy_for(bytes);
  policy.work = 0;
  return policy;
}

constexpr ExecutionPolicy kCached{Strategy::Cached, Stores::Ordinary, 0};

void rows_written(benchmark::State& state) {
  Entries e(state.range(0));
  bench::measure(state, on_one_thread(bytes_of(e.out)), bytes_of(e.out), [&](const KernelContext& context) {
    write_gradient(*e.matcher, {0, kRows}, {0, e.found}, e.grad.view(), e.out.view(), context);
  });
}

void rows_taken(benchmark::State& state) {
  Entries e(state.range(0));
  bench::measure(state, kCached, bytes_of(e.grad), [&](const KernelContext&) {
    write_taken(*e.matcher, {0, kRows}, {0, e.found}, e.grad.view(), e.out.view());
  });
}

void rows_added(benchmark::State& state) {
  Entries e(state.range(0));
  bench::measure(state, kCached, bytes_of(e.out), [&](const KernelContext& context) {  // read before they are written
    add_gradient(*e.matcher, {0, kRows}, {0, e.found}, e.grad.view(), e.out.view(), context);
  });
}

void rows_sliced(benchmark::State& state) {
  Entries e(state.range(0));
  bench::measure(state, kCached, bytes_of(e.grad) + bytes_of(e.out_indices), [&](const KernelContext&) {
    write_slice(*e.matcher, {0, kRows}, {0, e.found}, e.indices, {0, 0}, e.out.view(), e.out_indices.view(),
                e.grad.view());
  });
}

// Counts the bytes of the indices that are read.
constexpr std::int64_t kIndexBytes = kRows * kRank * 8;

void rows_matched_in_window(benchmark::State& state) {
  Entries e(1);
  bench::measure(state, kCached, kIndexBytes,
                 [&](const KernelContext&) { benchmark::DoNotOptimize(e.matcher->count({0, kRows}, 0)); });
}

void rows_matched_in_order(benchmark::State& state) {
  Entries e(1);
  const auto matcher = match_in_order(e.indices, {0, 0}, e.slice_indices, *active_target().rows);
  bench::measure(state, kCached, kIndexBytes,
                 [&](const KernelContext&) { benchmark::DoNotOptimize(matcher->count({0, kRows}, 0)); });
}

void rows_joined_in_any_order(benchmark::State& state) {
  Entries e(1);
  const Index index = shuffled(e.slice_index);
  const CooIndices slice_indices = indices_of(index);
  bench::measure(state, policy_for(kIndexBytes), kIndexBytes, [&](const KernelContext& context) {
    benchmark::DoNotOptimize(join_in_any_order(e.indices, {0, 0}, slice_indices, context).found);
  });
}

BENCHMARK(rows_written)->ArgName("width")->Arg(1)->Arg(16)->UseRealTime();
BENCHMARK(rows_taken)->ArgName("width")->Arg(1)->Arg(16)->UseRealTime();
BENCHMARK(rows_added)->ArgName("width")->Arg(1)->Arg(16)->UseRealTime();
BENCHMARK(rows_sliced)->ArgName("width")->Arg(1)->Arg(16)->UseRealTime();
BENCHMARK(rows_matched_in_window)->UseRealTime();
BENCHMARK(rows_matched_in_order)->UseRealTime();
BENCHMARK(rows_joined_in_any_order)->UseRealTime();

}  // namespace
}  // namespace backslice
