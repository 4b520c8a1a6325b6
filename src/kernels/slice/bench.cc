// One slice of a tensor: its gradient, into existing memory or into zeros, the slice itself, and sums.
#include "kernel_bench.h"
#include "kernels/slice/kernel.h"

namespace backslice {
namespace {

using bench::bytes_of, bench::measure, bench::touched;
using Extents = std::vector<std::int64_t>;

Selection at(const Extents& shape, const char* index) { return Selection::from_index(shape, index).value(); }

void slice_gradient(benchmark::State& state, const Extents& shape, const char* index, DType dtype, Write write) {
  const Selection selection = at(shape, index);
  const Tensor dy = touched(dtype, selection.result_shape());
  Tensor dx = touched(dtype, selection.shape());
  const Schedule schedule = schedule_gradient(selection, dx.view().layout, dy.view().layout, write, dtype);
  measure(state, schedule, write == Write::Overwrite ? bytes_of(dx) : bytes_of(dy), [&](const KernelContext& context) {
    std::byte* const to = dx.view().data;
    const std::byte* const from = dy.view().data;
    write == Write::Accumulate ? add(schedule.plan, dtype, to, from, context)
                               : fill(schedule.plan, dtype, to, from, context);
  });
}

void slice_forward(benchmark::State& state, const Extents& shape, const char* index) {
  const Selection selection = at(shape, index);
  const Tensor x = touched(DType::Float32, selection.shape());
  Tensor y = touched(DType::Float32, selection.result_shape());
  const Schedule schedule = schedule_slice(selection, y.view().layout, x.view().layout, DType::Float32);
  measure(state, schedule, bytes_of(y), [&](const KernelContext& context) {
    fill(schedule.plan, DType::Float32, y.view().data, x.view().data, context);
  });
}

// The gradient by each way there is.
void slice_gradient_by(benchmark::State& state, FillWay way) {
  const Selection selection = at({2048, 2048}, ":, 512:1536");
  const Tensor dy = touched(DType::Float32, selection.result_shape());
  Tensor dx = touched(DType::Float32, selection.shape());
  const Schedule schedule =
      schedule_gradient(selection, dx.view().layout, dy.view().layout, Write::Overwrite, DType::Float32);
  measure(state, schedule, bytes_of(dx), [&](const KernelContext& context) {
    fill(schedule.plan, DType::Float32, dx.view().data, dy.view().data, context, way);
  });
}

const Extents kSquare = {4096, 4096}, kImages = {32, 64, 112, 112}, kSmall = {64, 64}, kCached = {256, 256};

BENCHMARK_CAPTURE(slice_gradient, rows, kSquare, "1024:3072", DType::Float32, Write::Overwrite)->UseRealTime();
BENCHMARK_CAPTURE(slice_gradient, columns, kSquare, ":, 1024:3072", DType::Float32, Write::Overwrite)->UseRealTime();
BENCHMARK_CAPTURE(slice_gradient, every_other_column, kSquare, ":, ::2", DType::Float32, Write::Overwrite)
    ->UseRealTime();
BENCHMARK_CAPTURE(slice_gradient, every_other_row, kSquare, "::2", DType::Float32, Write::Overwrite)->UseRealTime();
BENCHMARK_CAPTURE(slice_gradient, reversed, kSquare, ":, ::-1", DType::Float32, Write::Overwrite)->UseRealTime();
BENCHMARK_CAPTURE(slice_gradient, crop, kImages, ":, :, 8:104, 8:104", DType::Float32, Write::Overwrite)->UseRealTime();
BENCHMARK_CAPTURE(slice_gradient, small_crop, kSmall, "8:40, 8:40", DType::Float32, Write::Overwrite)->UseRealTime();
BENCHMARK_CAPTURE(slice_gradient, cached_crop, kCached, "64:192, 64:192", DType::Float32, Write::Overwrite)
    ->UseRealTime();
BENCHMARK_CAPTURE(slice_gradient, cached_third_column, kCached, ":, ::3", DType::Float64, Write::Overwrite)
    ->UseRealTime();
BENCHMARK_CAPTURE(slice_gradient, columns_into_zeros, kSquare, ":, 1024:3072", DType::Float32, Write::IntoZeros)
    ->UseRealTime();
BENCHMARK_CAPTURE(slice_gradient, columns_accumulated, kSquare, ":, 1024:3072", DType::Float32, Write::Accumulate)
    ->UseRealTime();
BENCHMARK_CAPTURE(slice_gradient, columns_accumulated_bfloat16, kSquare, ":, 1024:3072", DType::BFloat16,
                  Write::Accumulate)
    ->UseRealTime();
BENCHMARK_CAPTURE(slice_gradient_by, nest, FillWay::Nest)->UseRealTime();
BENCHMARK_CAPTURE(slice_gradient_by, transposed, FillWay::Transposed)->UseRealTime();
BENCHMARK_CAPTURE(slice_gradient_by, rows, FillWay::Rows)->UseRealTime();
BENCHMARK_CAPTURE(slice_gradient_by, boxes, FillWay::Boxes)->UseRealTime();
BENCHMARK_CAPTURE(slice_forward, columns, kSquare, ":, 1024:3072")->UseRealTime();
BENCHMARK_CAPTURE(slice_forward, every_other_column, kSquare, ":, ::2")->UseRealTime();

}  // namespace
}  // namespace backslice
