// Many slices of one tensor, apart and overlapping.
#include "kernel_bench.h"
#include "kernels/tiles/kernel.h"

namespace backslice {
namespace {

using bench::bytes_of, bench::touched;

// Returns slice t of so many.
using IndexOf = Index (*)(std::int64_t t);

void sum_of_slices(benchmark::State& state, IndexOf index, std::int64_t count, Write write,
                   Overlap overlap = Overlap::Added) {
  const Shape shape = Shape::make({64, 512, 512}).value();
  Tensor dx = touched(DType::Float32, shape);
  std::vector<Tensor> dys;
  std::vector<SliceGradient> slices;
  for (std::int64_t t = 0; t < count; ++t) {
    const Selection selection = Selection::from_index(shape, index(t)).value();
    dys.push_back(touched(DType::Float32, selection.result_shape()));
    slices.push_back({selection, dys.back().view()});
  }
  const Layout& layout = dx.view().layout;
  const CommonAxes common = common_axes(slices, layout, serial_executor());
  if (are_disjoint(common, serial_executor())) overlap = Overlap::None;
  const ExecutionPolicy policy = policy_for_sum(slices, layout, write, overlap != Overlap::Added, DType::Float32);
  bench::measure(state, policy, bytes_of(dx), [&](const KernelContext& context) {
    fill_tiles(common, DType::Float32, layout.item_size, overlap, write, dx.view().data, context);
  });
}

Index one_of_the_second_axis(std::int64_t t) { return {SliceRange{}, t}; }
Index window(std::int64_t t) { return {SliceRange{}, SliceRange{t, t + 5}}; }
Index every_sixteenth_column(std::int64_t t) { return {SliceRange{}, SliceRange{}, SliceRange{t, {}, 16}}; }

BENCHMARK_CAPTURE(sum_of_slices, 32_apart, one_of_the_second_axis, 32, Write::Overwrite)->UseRealTime();
BENCHMARK_CAPTURE(sum_of_slices, 32_apart_into_zeros, one_of_the_second_axis, 32, Write::IntoZeros)->UseRealTime();
BENCHMARK_CAPTURE(sum_of_slices, 512_that_cover_it, one_of_the_second_axis, 512, Write::Overwrite)->UseRealTime();
BENCHMARK_CAPTURE(sum_of_slices, 500_overlapping_windows, window, 500, Write::Overwrite)->UseRealTime();
BENCHMARK_CAPTURE(sum_of_slices, 500_windows_written, window, 500, Write::Overwrite, Overlap::LastWins)->UseRealTime();
BENCHMARK_CAPTURE(sum_of_slices, 16_interleaved, every_sixteenth_column, 16, Write::Overwrite)->UseRealTime();

}  // namespace
}  // namespace backslice
