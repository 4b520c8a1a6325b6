// Shared by the benchmarks of the kernels. Each kernel folder has its bench.cc; together they are one program.
//
// A row shows how fast its destination was written, and the strategy and pieces of the schedule that ran.
#pragma once

#include <benchmark/benchmark.h>

#include <cstring>
#include <string>

#include "backslice/tensor.h"
#include "kernels/cpu/kernel_context.h"
#include "kernels/cpu/targets.h"

namespace backslice::bench {

// A tensor whose memory has been touched.
inline Tensor touched(DType dtype, const Shape& shape) {
  Tensor tensor = Tensor::make(dtype, shape).value();
  std::memset(tensor.view().data, 1, static_cast<std::size_t>(shape.elements() * item_size(dtype)));
  return tensor;
}

inline std::int64_t bytes_of(const Tensor& tensor) {
  return tensor.shape().elements() * tensor.view().layout.item_size;
}

// Runs kernel(context) as it would run by default here: this machine's best SIMD target, the default pool.
template <class Kernel>
void measure(benchmark::State& state, const ExecutionPolicy& policy, std::int64_t bytes, const Kernel& kernel) {
  Executor& pool = default_executor();
  const std::int64_t pieces = policy.pieces(pool.concurrency());
  const KernelContext context{*active_target().rows, policy.stores, pieces, pool, pool_allocator()};
  for (auto _ : state) {
    kernel(context);
    benchmark::ClobberMemory();
  }
  state.counters["GB"] =
      benchmark::Counter(static_cast<double>(bytes) / 1e9, benchmark::Counter::kIsIterationInvariantRate);
  state.SetLabel(std::string(name(policy.strategy)) + ", " + std::to_string(pieces) +
                 (pieces == 1 ? " piece" : " pieces"));
}

}  // namespace backslice::bench
