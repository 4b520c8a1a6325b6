// The speed of sparse and ragged gradients on a CUDA device, beside a copy of as many bytes in the same run.
//
//     build/release/bench/backslice_bench_cuda_containers [millions of rows]
//
// Times are those of the device: several calls are queued, and the time between the first and the last is divided by
// their number.
#include <cuda_runtime_api.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <numeric>
#include <random>

#include "backslice/backslice.h"
#include "backslice/cuda.h"
#include "kernels/concat/cuda_kernels.h"
#include "kernels/concat/segment_list.h"

namespace backslice {
namespace {

Allocator& memory() {
  static const std::shared_ptr<Allocator> allocator = cuda_allocator(0).value();
  return *allocator;
}

template <class T>
Tensor uploaded(const std::vector<T>& data, Ints shape) {
  Tensor made = Tensor::make(dtype_of<T>, shape, 0, Contents::Uninitialised, memory()).value();
  (void)cuda_copy(made.view(), ConstView::of(data, shape).value());
  return made;
}

Tensor room(DType dtype, Ints shape) { return Tensor::make(dtype, shape, 0, Contents::Zero, memory()).value(); }

// Seconds per call, best of several rounds.
double seconds(const std::function<void()>& call, int calls = 5) {
  cudaEvent_t begin, end;
  cudaEventCreate(&begin);
  cudaEventCreate(&end);
  double best = 1e9;
  for (int round = 0; round < 4; ++round) {
    call();
    cudaEventRecord(begin);
    for (int i = 0; i < calls; ++i) call();
    cudaEventRecord(end);
    cudaEventSynchronize(end);
    float ms = 0;
    cudaEventElapsedTime(&ms, begin, end);
    best = std::min(best, ms / 1e3 / calls);
  }
  cudaEventDestroy(begin);
  cudaEventDestroy(end);
  return best;
}

// A copy that reads and writes so many bytes in all.
double copy_seconds(std::int64_t bytes) {
  const auto half = static_cast<std::size_t>(bytes / 2);
  const Tensor from = room(DType::UInt8, {bytes / 2}), to = room(DType::UInt8, {bytes / 2});
  return seconds([&] {
    cudaMemcpyAsync(const_cast<std::byte*>(to.data()), from.data(), half, cudaMemcpyDeviceToDevice, nullptr);
  });
}

void report(const char* name, std::int64_t bytes, double time) {
  const double copy = copy_seconds(bytes);
  std::printf("%-44s %9.3f ms  %6.2f TB/s  %5.2f of copy\n", name, time * 1e3, static_cast<double>(bytes) / time / 1e12,
              copy / time);
  std::fflush(stdout);
}

void expect_ok(const Status& status) {
  if (status.ok()) return;
  std::printf("%s\n", status.to_string().c_str());
  std::exit(1);
}

// A square matrix of entries. First a window of columns is selected, then other parts of it, in and out of order.
void sparse(std::int64_t rows) {
  const auto side = static_cast<std::int64_t>(std::sqrt(static_cast<double>(rows)));
  rows = side * side;
  std::vector<std::int64_t> all, taken;
  for (std::int64_t i = 0; i < rows; ++i) {
    all.insert(all.end(), {i / side, i % side});
    if (i % side < side / 2) taken.insert(taken.end(), {i / side, i % side});
  }
  const auto half = static_cast<std::int64_t>(taken.size()) / 2;
  const Tensor input = uploaded(all, {rows, 2}), status = room(DType::Int64, {3});
  Tensor out = room(DType::Float32, {rows});
  Context context{.allocator = &memory()};
  context.device_status = reinterpret_cast<DeviceStatus*>(const_cast<std::byte*>(status.data()));
  const CooIndices in = CooIndices::from_matrix(input.view()).value();
  const auto gradient = [&](const char* name, const std::vector<std::int64_t>& list, MatchOrder order, int calls) {
    const std::int64_t count = static_cast<std::int64_t>(list.size()) / 2;
    const Tensor output = uploaded(list, {count, 2}), grad = room(DType::Float32, {count});
    const CooIndices of_slice = CooIndices::from_matrix(output.view()).value();
    const auto call = [&] {
      expect_ok(
          sparse_slice_grad_into(grad.view(), in, {0, 0}, of_slice, out.view(), order, Write::Overwrite, context));
    };
    report(name, rows * 20 + count * 20, seconds(call, calls));
    DeviceStatus outcome;
    cudaMemcpy(&outcome, status.data(), sizeof(outcome), cudaMemcpyDeviceToHost);
    if (outcome.refused != 0) std::printf("refused: %ld of %ld\n", outcome.found, outcome.expected);
  };
  gradient("sparse gradient, half the columns, in order", taken, MatchOrder::InOrder, 5);
  gradient("the same in any order", taken, MatchOrder::Any, 5);
  const Tensor grad = room(DType::Float32, {half});
  const auto by_size = [&] {
    expect_ok(sparse_slice_grad_by_size_into(grad.view(), in, {0, 0}, {side, side / 2}, out.view(), Write::Overwrite,
                                             context));
  };
  report("the same by size", rows * 20 + half * 4, seconds(by_size));
  Tensor out_indices = room(DType::Int64, {half, 2}), out_values = room(DType::Float32, {half});
  const auto forward = [&] {
    expect_ok(sparse_slice_into(in, out.view(), {side, side}, {0, 0}, {side, side / 2}, out_indices.view(),
                                out_values.view(), context)
                  .status());
  };
  report("sparse slice into, half the columns", rows * 20 + half * 20, seconds(forward));
  std::mt19937 random(1);
  std::vector<std::int64_t> some;
  for (std::int64_t i = 0; i < rows; ++i) {
    if (random() % 2 == 0) some.insert(some.end(), {i / side, i % side});
  }
  gradient("half the entries at random, sorted, in order", some, MatchOrder::InOrder, 2);
  std::vector<std::int64_t> order(static_cast<std::size_t>(half));
  std::iota(order.begin(), order.end(), 0);
  std::shuffle(order.begin(), order.end(), random);
  std::vector<std::int64_t> shuffled;
  for (std::int64_t i : order)
    shuffled.insert(shuffled.end(),
                    {taken[static_cast<std::size_t>(2 * i)], taken[static_cast<std::size_t>(2 * i + 1)]});
  gradient("half the columns, shuffled, any order", shuffled, MatchOrder::Any, 2);
}

// A million rows of about fifty floats, at random places; every tenth is missing.
void ragged(std::int64_t rows) {
  std::mt19937 random(2);
  std::vector<std::int64_t> splits = {0};
  for (std::int64_t i = 0; i < rows; ++i)
    splits.push_back(splits.back() + 30 + static_cast<std::int64_t>(random() % 41));
  const std::int64_t total = splits.back();
  const Tensor source = room(DType::Float32, {total});
  Tensor out = room(DType::Float32, {total});
  std::vector<std::int64_t> order(static_cast<std::size_t>(rows));
  std::iota(order.begin(), order.end(), 0);
  std::shuffle(order.begin(), order.end(), random);
  for (bool missing : {false, true}) {
    std::vector<Segment> segments;
    std::vector<std::optional<RaggedTensor>> pieces;
    std::vector<std::int64_t> lengths = {0};
    std::int64_t bytes = 0;
    for (std::int64_t i : order) {
      const auto at = static_cast<std::size_t>(i);
      const std::int64_t count = splits[at + 1] - splits[at];
      const bool is_missing = missing && i % 10 == 0;
      const std::byte* data = is_missing ? nullptr : source.data() + splits[at] * 4;
      segments.push_back({data, count * 4});
      bytes += count * (is_missing ? 4 : 8);
      lengths.push_back(lengths.back() + count);
      pieces.push_back(std::nullopt);
      if (is_missing) continue;
      const View view =
          View::contiguous(const_cast<std::byte*>(data), DType::Float32, {count}, 0, Device::cuda(0)).value();
      pieces.back() = RaggedTensor::make(Tensor::of(source.buffer(), view), {}).value();
    }
    const cuda::SegmentList list(out.data(), segments, {});
    const Tensor table = uploaded(list.packed(), {std::ssize(list.packed())});
    const auto kernel = [&] {
      cuda::copy_segments(list.table(out.view().data, table.data()), list.tiles(), 4, true, nullptr);
    };
    report(missing ? "ragged gradient, a tenth missing, kernel" : "ragged gradient, kernel", bytes, seconds(kernel));
    const VariantArray encoded = VariantArray::make(std::move(pieces), {rows}).value();
    const std::vector<Tensor> row_splits = {Tensor::copy_of(lengths, {rows + 1}).value()};
    const auto whole = [&] {
      expect_ok(ragged_tensor_to_variant_gradient_into(encoded, row_splits, {total}, out.view(), Write::Overwrite,
                                                       {.allocator = &memory()}));
    };
    report("  with its tables made and copied", bytes, seconds(whole, 2));
  }
  const Tensor row_splits = Tensor::copy_of(splits, {rows + 1}).value();
  const VariantArray batch = ragged_tensor_to_variant(RaggedTensor::make(source, {row_splits}).value()).value();
  const auto from_batch = [&] {
    expect_ok(ragged_tensor_to_variant_gradient_into(batch, {row_splits}, {total}, out.view(), Write::Overwrite,
                                                     {.allocator = &memory()}));
  };
  report("ragged gradient of a whole batch, all in all", total * 8, seconds(from_batch));
}

}  // namespace
}  // namespace backslice

int main(int argc, char** argv) {
  const std::int64_t millions = argc > 1 ? std::atoll(argv[1]) : 100;
  backslice::sparse(millions * 1'000'000);
  backslice::ragged(1'000'000);
}
