// What a call costs besides its kernel: small calls of whole operations. (Each kernel's own benchmark is in its
// folder.)
#include <benchmark/benchmark.h>

#include <cstring>

#include "backslice/backslice.h"

namespace {

using namespace backslice;

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

BENCHMARK(small);
BENCHMARK(copy_of_small);
BENCHMARK(thousand_writes);

}  // namespace
