// What the dense gradients reach on a CUDA device, beside a copy within its memory in the same run: bytes of dx written
// and of dy read, over the time. `make bench-cuda` runs it; names on the command line choose workloads, "variants" all
// of them with every kernel that can run them.
#include <cuda_runtime_api.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <string>
#include <vector>

#include "backslice/backslice.h"
#include "kernels/slice/cuda_kernels.h"
#include "kernels/tiles/cuda_kernels.h"

namespace {

using namespace backslice;

void must(cudaError_t error, const char* call) {
  if (error == cudaSuccess) return;
  std::fprintf(stderr, "%s: %s\n", call, cudaGetErrorString(error));
  std::exit(1);
}

void must(const Status& status) {
  if (status.ok()) return;
  std::fprintf(stderr, "%s\n", status.to_string().c_str());
  std::exit(1);
}

// The best of several runs, each long enough to time, in seconds per call.
double seconds(const std::function<void()>& body) {
  cudaEvent_t begin, end;
  must(cudaEventCreate(&begin), "cudaEventCreate");
  must(cudaEventCreate(&end), "cudaEventCreate");
  double best = 1e9;
  constexpr int kCalls = 10;
  for (int repeat = 0; repeat < 5; ++repeat) {
    must(cudaEventRecord(begin), "cudaEventRecord");
    for (int i = 0; i < kCalls; ++i) body();
    must(cudaEventRecord(end), "cudaEventRecord");
    must(cudaEventSynchronize(end), "cudaEventSynchronize");
    float milliseconds = 0;
    must(cudaEventElapsedTime(&milliseconds, begin, end), "cudaEventElapsedTime");
    if (repeat > 0) best = std::min(best, 1e-3 * milliseconds / kCalls);
  }
  (void)cudaEventDestroy(begin);
  (void)cudaEventDestroy(end);
  return best;
}

Tensor on_device(DType dtype, const Shape& shape) {
  static const auto memory = cuda_allocator(0).value();
  return Tensor::make(dtype, shape, 0, Contents::Zero, *memory).value();
}

double copy_speed() {
  const std::size_t bytes = std::size_t{1} << 30;
  Tensor a = on_device(DType::UInt8, *Shape::make({1 << 30})), b = on_device(DType::UInt8, *Shape::make({1 << 30}));
  const double time = seconds([&] {
    must(cudaMemcpyAsync(a.view().data, b.view().data, bytes, cudaMemcpyDeviceToDevice, nullptr), "cudaMemcpyAsync");
  });
  return 2.0 * static_cast<double>(bytes) / time;
}

std::vector<cuda::DevicePlan> plans_of(const Selection& s, Tensor& dx, const Tensor& dy) {
  const Plan plan = plan_scatter(s, dx.view().layout, dy.view().layout, Widen::Yes);
  return cuda::device_plans(plan, dx.view().data, dy.data());
}

struct Workload {
  const char* name;
  std::vector<std::int64_t> shape;  // the last axis is longer for narrower dtypes
  const char* index;
};

Selection selection_of(const Workload& work, DType dtype) {
  std::vector<std::int64_t> dims = work.shape;
  dims.back() *= 4 / std::min<std::int64_t>(4, item_size(dtype));
  if (dims.size() < 4) return Selection::from_index(dims, parse_index(work.index).value()).value();
  const std::int64_t scale = dims.back() / work.shape.back();  // the same share of longer rows
  return *Selection::from_index(dims,
                                {SliceRange{}, SliceRange{}, SliceRange{8, 104}, SliceRange{8 * scale, 104 * scale}});
}

// Of dx and dy, in bytes.
double traffic_of(const Selection& s, DType dtype) {
  return static_cast<double>((s.shape().elements() + s.result_shape().elements()) * item_size(dtype));
}

void run(const Workload& work, DType dtype, double copy, bool accumulates) {
  const Selection s = selection_of(work, dtype);
  Tensor dx = on_device(dtype, s.shape());
  const Tensor dy = on_device(dtype, s.result_shape());
  const Write write = accumulates ? Write::Accumulate : Write::Overwrite;
  const double time = seconds([&] { must(slice_grad_into(s, dy, dx, write)); });
  const auto read = static_cast<double>(dy.view().elements() * item_size(dtype));
  const double bytes = accumulates ? 3 * read : traffic_of(s, dtype);
  std::printf("%-22s %-9s %-10s %8.1f us %6.2f TB/s %5.2f of copy  %s\n", work.name, std::string(name(dtype)).c_str(),
              accumulates ? "accumulate" : "overwrite", 1e6 * time, 1e-12 * bytes / time, bytes / time / copy,
              accumulates ? "" : to_string(cuda::fill_variant(plans_of(s, dx, dy)[0])).c_str());
  std::fflush(stdout);
}

// Every kernel of the list that can run the workload, the one that is chosen first.
void run_variants(const Workload& work, DType dtype, double copy) {
  const Selection s = selection_of(work, dtype);
  Tensor dx = on_device(dtype, s.shape());
  const Tensor dy = on_device(dtype, s.result_shape());
  const std::vector<cuda::DevicePlan> plans = plans_of(s, dx, dy);
  for (const cuda::FillVariant& variant : cuda::kFillVariants) {
    const auto can_run = [&](const cuda::DevicePlan& plan) { return variant.can_run(plan); };
    if (!std::all_of(plans.begin(), plans.end(), can_run)) continue;
    const double time = seconds([&] {
      for (const cuda::DevicePlan& plan : plans) must(cuda::fill_plan(plan, variant, nullptr), "fill_plan");
    });
    std::printf("%-22s %-9s %-26s %5.2f of copy\n", work.name, std::string(name(dtype)).c_str(),
                to_string(variant).c_str(), traffic_of(s, dtype) / time / copy);
    std::fflush(stdout);
  }
}

// Steps of a sequence, each `taken` long, so that slices of more than one meet.
struct Steps {
  explicit Steps(std::int64_t taken) : dx(on_device(DType::Float32, shape)) {
    for (std::int64_t t = 0; t < 512; ++t) {
      const std::int64_t end = std::min<std::int64_t>(512, t + taken);
      const auto s = Selection::from_index(shape, {SliceRange{}, SliceRange{t, end}});
      dys.push_back(on_device(DType::Float32, s->result_shape()));
      slices.push_back({*s, dys.back().view()});
    }
  }

  Shape shape = *Shape::make({256, 512, 1024});
  Tensor dx;
  std::vector<Tensor> dys;
  std::vector<SliceGradient> slices;
};

double traffic_of(const Steps& steps, std::int64_t taken) {
  return 4.0 * static_cast<double>(steps.shape.elements()) * static_cast<double>(1 + taken);
}

// Every kernel of the list that can run them, with their tables on the device.
void run_many_variants(double copy, std::int64_t taken) {
  Steps steps(taken);
  const CommonAxes common = common_axes(steps.slices, steps.dx.view().layout, serial_executor());
  const cuda::Addition addition = cuda::addition_of(DType::Float32);
  const auto made = cuda::tile_tables(common, 4, steps.dx.view().data, taken > 1 ? &addition : nullptr, false);
  const cuda::UploadedTiles uploaded(made[0], *cuda_allocator(0).value(), {0, nullptr});
  const cuda::DeviceTiles& tiles = uploaded.tiles;
  for (const cuda::TileVariant& variant : cuda::kTileVariants) {
    if (!variant.can_run(tiles)) continue;
    const double time = seconds([&] { must(cuda::sum_tiles(tiles, variant, nullptr), "sum_tiles"); });
    std::printf("512 slices of %lld step%s   %-26s %5.2f of copy\n", static_cast<long long>(taken),
                taken == 1 ? " " : "s", to_string(variant).c_str(), traffic_of(steps, taken) / time / copy);
    std::fflush(stdout);
  }
}

// 512 steps of a sequence: through the operation, and as a graph that was captured once.
void run_many(double copy, std::int64_t taken) {
  Steps steps(taken);
  const Shape& shape = steps.shape;
  Tensor& dx = steps.dx;
  const std::vector<SliceGradient>& slices = steps.slices;
  cudaStream_t stream;
  must(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking), "cudaStreamCreate");
  const double call = seconds([&] { must(multi_slice_grad_into(shape, slices, dx)); });
  must(cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal), "cudaStreamBeginCapture");
  must(multi_slice_grad_into(shape, slices, dx, Write::Overwrite, {.stream = stream}));
  cudaGraph_t graph;
  cudaGraphExec_t replay;
  must(cudaStreamEndCapture(stream, &graph), "cudaStreamEndCapture");
  must(cudaGraphInstantiate(&replay, graph, 0), "cudaGraphInstantiate");
  const double replayed = seconds([&] { must(cudaGraphLaunch(replay, nullptr), "cudaGraphLaunch"); });
  std::printf("512 slices of %lld step%s   per call %.3f ms, replayed %.3f ms: %.2f of copy\n",
              static_cast<long long>(taken), taken == 1 ? " " : "s", 1e3 * call, 1e3 * replayed,
              traffic_of(steps, taken) / replayed / copy);
  std::fflush(stdout);
}

void run_small() {
  const Selection s = *Selection::from_index({64, 64}, "8:56, 8:56");
  Tensor dx = on_device(DType::Float32, s.shape());
  const Tensor dy = on_device(DType::Float32, s.result_shape());
  const double into = seconds([&] { must(slice_grad_into(s, dy, dx)); });
  const double made = seconds([&] { must(slice_grad(s, dy).status()); });
  const auto prepared = PreparedSlice::make(s, DType::Float32);
  const double kept = seconds([&] { must(prepared->gradient(dy, dx)); });
  std::printf("(64,64)                into %.2f us, prepared %.2f us, with its memory %.2f us\n", 1e6 * into,
              1e6 * kept, 1e6 * made);
}

}  // namespace

int main(int argc, char** argv) {
  const std::vector<Workload> workloads = {
      {"row band", {16384, 16384}, "4096:12288"},
      {"column band", {16384, 16384}, ":, 4096:12288"},
      {"odd offset", {16384, 16384}, ":, 4097:12290"},
      {"second row", {16384, 16384}, "::2"},
      {"second column", {16384, 16384}, ":, ::2"},
      {"third column", {16384, 16384}, ":, ::3"},
      {"reversed", {16384, 16384}, ":, ::-1"},
      {"time step", {4096, 128, 512}, ":, 64"},
      {"crop", {256, 64, 112, 112}, ":, :, 8:104, 8:104"},
  };
  const auto wanted = [&](const char* name) {
    return argc < 2 || std::any_of(argv + 1, argv + argc, [&](const char* w) { return std::strcmp(w, name) == 0; });
  };
  std::printf("%s\n", cuda_devices().value()[0].name.c_str());
  const double copy = copy_speed();
  std::printf("device copy %.2f TB/s\n", 1e-12 * copy);
  for (const Workload& work : workloads) {
    if (!wanted(work.name)) continue;
    for (DType dtype : {DType::Float32, DType::Float16, DType::UInt8, DType::Float64}) run(work, dtype, copy, false);
    for (DType dtype : {DType::Float32, DType::BFloat16}) run(work, dtype, copy, true);
  }
  if (wanted("variants")) {
    for (const Workload& work : workloads) {
      for (DType dtype : {DType::Float32, DType::UInt8}) run_variants(work, dtype, copy);
    }
    for (std::int64_t taken : {1, 2}) run_many_variants(copy, taken);
  }
  if (wanted("many")) {
    run_many(copy, 1);
    run_many(copy, 2);
  }
  if (wanted("small")) run_small();
  std::printf("device copy %.2f TB/s at the end\n", 1e-12 * copy_speed());
}
