// The cost of a call besides its kernel: small calls of whole operations. (Each kernel's own benchmark is in its
// folder.)
#include <benchmark/benchmark.h>

#include <cstring>

#include "backslice/backslice.h"
#include "backslice/c/backslice.h"

namespace {

using namespace backslice;

// The cost of a small gradient from TensorFlow's arguments, planning included.
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

// The same from C: the additional cost of its structs and checks.
void small_in_c(benchmark::State& state) {
  static float dy[32 * 32] = {}, dx[64 * 64];
  const std::int64_t shape[] = {64, 64}, part[] = {32, 32}, begin[] = {8, 8}, end[] = {40, 40}, strides[] = {1, 1};
  backslice_view in = BACKSLICE_VIEW_INIT, out = BACKSLICE_VIEW_INIT;
  in.data = dy, in.rank = 2, in.shape = part;
  out.data = dx, out.rank = 2, out.shape = shape;
  backslice_tf_slice spec = BACKSLICE_TF_SLICE_INIT;
  spec.begin = {begin, 2}, spec.end = {end, 2}, spec.strides = {strides, 2};
  for (auto _ : state) {
    if (backslice_strided_slice_grad_into({shape, 2}, &spec, &in, &out, BACKSLICE_OVERWRITE, nullptr) != BACKSLICE_OK) {
      return state.SkipWithError(backslice_last_error());
    }
    benchmark::ClobberMemory();
  }
}

// From an existing selection, in C++ and in C.
void small_selection(benchmark::State& state) {
  static float dy[32 * 32] = {}, dx[64 * 64];
  const ConstView in = ConstView::contiguous(dy, DType::Float32, {32, 32}).value();
  const View out = View::contiguous(dx, DType::Float32, {64, 64}).value();
  const Selection selection = Selection::from_index({64, 64}, parse_index("8:40, 8:40").value()).value();
  for (auto _ : state) {
    if (!slice_grad_into(selection, in, out).ok()) return state.SkipWithError("refused");
    benchmark::ClobberMemory();
  }
}

void small_selection_in_c(benchmark::State& state) {
  static float dy[32 * 32] = {}, dx[64 * 64];
  const std::int64_t shape[] = {64, 64}, part[] = {32, 32};
  backslice_view in = BACKSLICE_VIEW_INIT, out = BACKSLICE_VIEW_INIT;
  in.data = dy, in.rank = 2, in.shape = part;
  out.data = dx, out.rank = 2, out.shape = shape;
  backslice_selection* selection = nullptr;
  if (backslice_selection_from_index({shape, 2}, {"8:40, 8:40", 10}, &selection) != BACKSLICE_OK) {
    return state.SkipWithError(backslice_last_error());
  }
  for (auto _ : state) {
    if (backslice_slice_grad_into(selection, &in, &out, BACKSLICE_OVERWRITE, nullptr) != BACKSLICE_OK) {
      state.SkipWithError(backslice_last_error());
      break;
    }
    benchmark::ClobberMemory();
  }
  backslice_free(selection);
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

// By reference: the cost of a write alone.
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
BENCHMARK(small_in_c);
BENCHMARK(small_selection);
BENCHMARK(small_selection_in_c);
BENCHMARK(copy_of_small);
BENCHMARK(thousand_writes);

}  // namespace
