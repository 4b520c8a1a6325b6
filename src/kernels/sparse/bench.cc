// Rows of a sparse tensor and of its slice, moved and added on one thread: who calls the kernel cuts the rows.
#include "kernel_bench.h"
#include "kernels/sparse/kernel.h"

namespace backslice {
namespace {

using bench::bytes_of, bench::touched;

constexpr std::int64_t kRows = 1 << 20, kColumns = 1024;

// A matrix with one entry of `width` floats in each of its first columns, row by row; the slice takes half the columns.
struct Entries {
  std::vector<std::int64_t> index;
  CooIndices indices;
  std::unique_ptr<Matcher> matcher;
  std::int64_t found;
  Tensor out, grad;

  explicit Entries(std::int64_t width)
      : index(make_index()),
        indices(CooIndices::from_matrix(ConstView::contiguous(index.data(), DType::Int64, {kRows, 2}).value()).value()),
        matcher(match_window(indices, {0, 0}, {kRows, kColumns / 2})),
        found(matcher->count({0, kRows}, 0)),
        out(touched(DType::Float32, Shape::make({kRows, width}).value())),
        grad(touched(DType::Float32, Shape::make({found, width}).value())) {}

  static std::vector<std::int64_t> make_index() {
    std::vector<std::int64_t> index;
    for (std::int64_t i = 0; i < kRows; ++i) index.insert(index.end(), {i / kColumns, i % kColumns});
    return index;
  }
};

Manner on_one_thread(const Tensor& out) {
  Manner manner = manner_of(bytes_of(out));
  manner.work = 0;
  return manner;
}

void rows_written(benchmark::State& state) {
  Entries e(state.range(0));
  bench::measure(state, on_one_thread(e.out), bytes_of(e.out), [&](const KernelContext& context) {
    write_gradient(*e.matcher, {0, kRows}, {0, e.found}, e.grad.view(), e.out.view(), context);
  });
}

void rows_added(benchmark::State& state) {
  Entries e(state.range(0));
  const Manner sums{Strategy::Cached, Stores::Ordinary, 0};  // read before they are written
  bench::measure(state, sums, bytes_of(e.out), [&](const KernelContext& context) {
    add_gradient(*e.matcher, {0, kRows}, {0, e.found}, e.grad.view(), e.out.view(), context);
  });
}

BENCHMARK(rows_written)->ArgName("width")->Arg(1)->Arg(16)->UseRealTime();
BENCHMARK(rows_added)->ArgName("width")->Arg(1)->Arg(16)->UseRealTime();

}  // namespace
}  // namespace backslice
