// Segments one after the other: copies, copies with zeros between them, and sums.
#include "core/items.h"
#include "kernel_bench.h"
#include "kernels/concat/kernel.h"

namespace backslice {
namespace {

using bench::bytes_of, bench::touched;

constexpr std::int64_t kBytes = 64 << 20;

struct Segments {
  Tensor source = touched(DType::Float32, Shape::make({kBytes / 4}).value());
  std::vector<Segment> list;
  std::vector<Sum> sums;

  // Segments from the end of the source to its beginning, so that no two of them are one run.
  Segments(std::int64_t size, bool every_other_is_zero, int terms) {
    const std::byte* data = source.view().data;
    for (std::int64_t end = kBytes; end > 0; end -= size) {
      const bool zero = every_other_is_zero && list.size() % 2 == 1;
      list.push_back({zero ? nullptr : data + end - size, size});
      if (terms > 1) sums.push_back({list.size() - 1, std::vector(static_cast<std::size_t>(terms - 1), data)});
    }
  }
};

void concatenation(benchmark::State& state, std::int64_t size, bool every_other_is_zero, int terms, DType dtype) {
  const Segments segments(size, every_other_is_zero, terms);
  Tensor out = touched(DType::Float32, segments.source.shape());
  const std::int64_t work = terms > 1 ? operations_of(dtype).addition_work : 1;
  bench::measure(state, policy_for(kBytes, work), bytes_of(out), [&](const KernelContext& context) {
    concat(out.view().data, segments.list, dtype, item_size(dtype), context, segments.sums);
  });
}

BENCHMARK_CAPTURE(concatenation, segments_of_256_bytes, 256, false, 1, DType::Float32)->UseRealTime();
BENCHMARK_CAPTURE(concatenation, segments_of_1_MiB, 1 << 20, false, 1, DType::Float32)->UseRealTime();
BENCHMARK_CAPTURE(concatenation, every_other_256_bytes_zero, 256, true, 1, DType::Float32)->UseRealTime();
BENCHMARK_CAPTURE(concatenation, sums_of_4, 64 << 10, false, 4, DType::Float32)->UseRealTime();
BENCHMARK_CAPTURE(concatenation, sums_of_4_float16, 64 << 10, false, 4, DType::Float16)->UseRealTime();

}  // namespace
}  // namespace backslice
