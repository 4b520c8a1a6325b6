// A training step on a CUDA device: two streams, and a graph that repeats it.
//
// Two losses read parts of one tensor. Their gradients are computed on a stream
// each, and both wait for neither the CPU nor each other. The same work is then
// captured into a graph, which is launched once per step: its kernels read and
// write the same memory, whose content changes.
#include <backslice/backslice.h>
#include <cuda_runtime.h>

#include <cstdio>
#include <stdexcept>
#include <vector>

namespace {

using namespace backslice;

constexpr std::int64_t kRows = 1024, kColumns = 256;

void check(const Status& status) {
  if (!status.ok()) throw std::runtime_error(status.to_string());
}
void check(cudaError_t error) {
  if (error != cudaSuccess) throw std::runtime_error(cudaGetErrorString(error));
}

// A stream, for as long as anything uses it.
struct Stream {
  Stream() { check(cudaStreamCreateWithFlags(&it, cudaStreamNonBlocking)); }
  ~Stream() { cudaStreamDestroy(it); }
  Stream(const Stream&) = delete;
  cudaStream_t it = nullptr;
};

// The gradients of both losses, in memory that is made once.
struct Step {
  explicit Step(Allocator& memory)
      : dx(Tensor::zeros(DType::Float32, {kRows, kColumns}, memory).value()),
        dhead(Tensor::zeros(DType::Float32, {64, kColumns}, memory).value()),
        dtail(Tensor::zeros(DType::Float32, {kRows, 32}, memory).value()) {}

  // Makes a stream wait for the work that `first` has queued.
  void queue(const Stream& first, const Stream& second) {
    // dx = 0; dx[:64] = dhead
    check(slice_grad_into(head, dhead, dx, {.stream = first.it}));
    check(cuda_wait(0, second.it, first.it));  // a fork, also in a graph
    // dx[:, ::8] += dtail
    check(slice_grad_into(tail, dtail, dx, Write::Accumulate,
                          {.stream = second.it}));
    check(cuda_wait(0, first.it, second.it));  // and the join
  }

  Selection head = Selection::from_index({kRows, kColumns}, ":64").value();
  Selection tail = Selection::from_index({kRows, kColumns}, ":, ::8").value();
  Tensor dx, dhead, dtail;
};

void set(Tensor& tensor, float value, const Stream& stream) {
  const std::vector<float> host(
      static_cast<std::size_t>(tensor.shape().elements()), value);
  check(cuda_copy(tensor, ConstView::of(host, tensor.shape()).value(),
                  stream.it));
  check(cuda_synchronize(0, stream.it));
}

bool is_right(const Step& step, float head, float tail, const Stream& stream) {
  std::vector<float> dx(kRows * kColumns);
  check(cuda_copy(View::of(dx, {kRows, kColumns}).value(), step.dx, stream.it));
  check(cuda_synchronize(0, stream.it));
  for (std::int64_t row = 0; row < kRows; ++row) {
    for (std::int64_t column = 0; column < kColumns; ++column) {
      const float expected =
          (row < 64 ? head : 0) + (column % 8 == 0 ? tail : 0);
      if (dx[static_cast<std::size_t>(row * kColumns + column)] != expected)
        return false;
    }
  }
  return true;
}

// Captures a step. The streams join again, as a capture requires.
cudaGraphExec_t captured(Step& step, const Stream& first,
                         const Stream& second) {
  cudaGraph_t graph = nullptr;
  check(cudaStreamBeginCapture(first.it, cudaStreamCaptureModeThreadLocal));
  step.queue(first, second);
  check(cudaStreamEndCapture(first.it, &graph));
  cudaGraphExec_t executable = nullptr;
  check(cudaGraphInstantiate(&executable, graph, 0));
  check(cudaGraphDestroy(graph));
  return executable;
}

bool train() {
  const Stream first, second;
  const auto memory = cuda_allocator(0, first.it).value();
  Step step(*memory);
  set(step.dhead, 1, first);
  set(step.dtail, 2, first);
  step.queue(first, second);
  if (!is_right(step, 1, 2, first)) return false;

  const cudaGraphExec_t graph = captured(step, first, second);
  bool right = true;
  for (int i = 1; i <= 3 && right; ++i) {
    set(step.dhead, static_cast<float>(i), first);
    check(cudaGraphLaunch(graph, first.it));
    right = is_right(step, static_cast<float>(i), 2, first);
  }
  check(cudaGraphExecDestroy(graph));
  return right;
}

}  // namespace

int main() {
  const auto devices = cuda_devices();
  if (!devices) {
    std::printf("no CUDA here: %s\n", devices.status().to_string().c_str());
    return 0;
  }
  try {
    const bool right = train();
    std::puts(right ? "the same with a graph" : "a wrong gradient");
    return right ? 0 : 1;
  } catch (const std::exception& error) {
    std::fprintf(stderr, "%s\n", error.what());
    return 1;
  }
}
