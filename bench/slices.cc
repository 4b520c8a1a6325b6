// The dense workloads without Python, into an output that is given: bytes per second of the gradient.
#include <benchmark/benchmark.h>

#include <cstring>

#include "backslice/backslice.h"

namespace {

using namespace backslice;

void gradient(benchmark::State& state, std::vector<std::int64_t> shape, const char* index) {
  const Selection selection = Selection::from_index(shape, parse_index(index).value()).value();
  Tensor dy = Tensor::make(DType::Float32, selection.result_shape()).value();
  Tensor dx = Tensor::make(DType::Float32, selection.shape()).value();
  std::memset(dy.view().data, 1, static_cast<std::size_t>(dy.shape().elements()) * 4);
  for (auto _ : state) {
    if (!slice_grad_into(selection, dy.view(), dx.view()).ok()) return state.SkipWithError("refused");
    benchmark::ClobberMemory();
  }
  state.SetBytesProcessed(state.iterations() * dx.shape().elements() * 4);
}

// TensorFlow's arguments, planning included: what a small gradient costs.
void small(benchmark::State& state) {
  float dy[32 * 32] = {}, dx[64 * 64];
  const ConstView in = ConstView::contiguous(dy, DType::Float32, {32, 32}).value();
  const View out = View::contiguous(dx, DType::Float32, {64, 64}).value();
  const TfSlice spec{.begin = {8, 8}, .end = {40, 40}, .strides = {1, 1}};
  for (auto _ : state) {
    if (!strided_slice_grad_into({64, 64}, spec, in, out).ok()) return state.SkipWithError("refused");
    benchmark::ClobberMemory();
  }
}

void copy_of_small(benchmark::State& state) {
  float from[64 * 64] = {}, to[64 * 64];
  for (auto _ : state) {
    benchmark::DoNotOptimize(static_cast<const void*>(from));  // else the copy is optimised away
    std::memcpy(to, from, sizeof(to));
    benchmark::DoNotOptimize(static_cast<void*>(to));
    benchmark::ClobberMemory();
  }
}

void many(benchmark::State& state) {
  const Shape shape = Shape::make({64, 512, 1024}).value();
  std::vector<Tensor> dys;
  std::vector<SliceGradient> slices;
  for (std::int64_t t = 0; t < state.range(0); ++t) {
    const Selection selection = Selection::from_index(shape, {SliceRange{}, t}).value();
    dys.push_back(Tensor::make(DType::Float32, selection.result_shape()).value());
    std::memset(dys.back().view().data, 1, static_cast<std::size_t>(dys.back().shape().elements()) * 4);
    slices.push_back({selection, dys.back().view()});
  }
  for (auto _ : state) benchmark::DoNotOptimize(multi_slice_grad(shape, slices));
  state.SetBytesProcessed(state.iterations() * shape.elements() * 4);
}

// By reference: what a write itself costs.
void thousand_writes(benchmark::State& state) {
  const Tensor value = Tensor::make(DType::Float32, Shape::make({128, 256}).value()).value();
  for (auto _ : state) {
    TensorArray array = TensorArray::make(1000, DType::Float32).value();
    for (std::int64_t i = 0; i < 1000; ++i) {
      if (!array.write(i, value).ok()) return state.SkipWithError("refused");
    }
  }
}

using Extents = std::vector<std::int64_t>;
BENCHMARK_CAPTURE(gradient, rows, Extents{4096, 4096}, "1024:3072")->UseRealTime();
BENCHMARK_CAPTURE(gradient, columns, Extents{4096, 4096}, ":, 1024:3072")->UseRealTime();
BENCHMARK_CAPTURE(gradient, every_other_column, Extents{4096, 4096}, ":, ::2")->UseRealTime();
BENCHMARK_CAPTURE(gradient, every_other_row, Extents{4096, 4096}, "::2")->UseRealTime();
BENCHMARK_CAPTURE(gradient, reversed, Extents{4096, 4096}, ":, ::-1")->UseRealTime();
BENCHMARK_CAPTURE(gradient, one_of_an_axis, Extents{512, 128, 512}, ":, 64")->UseRealTime();
BENCHMARK_CAPTURE(gradient, crop, Extents{32, 64, 112, 112}, ":, :, 8:104, 8:104")->UseRealTime();
BENCHMARK(small);
BENCHMARK(copy_of_small);
BENCHMARK(thousand_writes);
BENCHMARK(many)->Arg(32)->Arg(128)->Arg(512)->UseRealTime();

}  // namespace
