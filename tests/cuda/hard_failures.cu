// What becomes of calls on a device that can no longer be used, on a stream that was destroyed, and where no kernel was
// compiled for the device: a clear error, and a process that goes on. Each needs a process of its own.
// Usage: cuda_hard_failures sticky|dead_stream, cuda_no_kernel no_kernel
#include <sys/wait.h>
#include <unistd.h>

#include <cstring>
#include <iostream>
#include <vector>

#include "backslice/backslice.h"

using namespace backslice;

namespace {

constexpr int kSkipped = 77;

int failures = 0;

void expect(bool holds, const char* what, const Status& status) {
  std::cout << (holds ? "  as expected: " : "  WRONG: ") << what << ": " << status << std::endl;
  if (!holds) ++failures;
}

void expect_error(StatusCode code, const char* text, const char* what, const Status& status) {
  expect(status.code() == code && status.message().find(text) != std::string::npos, what, status);
}

// Memory of the device that was made while it could be used.
struct Arguments {
  void* memory = nullptr;
  Selection selection = Selection::from_index({1024}, "1:513").value();

  Arguments() { (void)cudaMalloc(&memory, 8192); }
  ConstView dy() const { return ConstView::contiguous(memory, DType::Float32, {512}, 0, Device::cuda(0)).value(); }
  View dx() const {
    return View::contiguous(static_cast<std::byte*>(memory) + 4096, DType::Float32, {1024}, 0, Device::cuda(0)).value();
  }
  Status overwrite(CudaStream stream) const {
    return slice_grad_into(selection, dy(), dx(), Write::Overwrite, {.stream = stream});
  }
  Status make(CudaStream stream) const { return slice_grad(selection, dy(), {.stream = stream}).status(); }
  Status sum(CudaStream stream) const {
    const SliceGradient slices[] = {{selection, dy()}, {selection, dy()}};
    return multi_slice_grad({1024}, slices, {.stream = stream}).status();
  }
};

void expect_the_cpu_works() {
  const std::vector<float> here = {1, 2, 3, 4};
  const Status status =
      slice(Selection::from_index({4}, "1:3").value(), ConstView::contiguous(here.data(), DType::Float32, {4}).value())
          .status();
  expect(status.ok(), "a slice on the CPU", status);
}

__global__ void write_out_of_bounds(int* nowhere) { *nowhere = 1; }

void sticky() {
  const Arguments arguments;
  expect(arguments.make(nullptr).ok(), "before", Status());
  Tensor kept = slice_grad(arguments.selection, arguments.dy()).value();  // given back when nothing works any more
  write_out_of_bounds<<<1, 1>>>(reinterpret_cast<int*>(64));
  for (int i = 0; i < 2; ++i) {
    expect_error(StatusCode::Internal, "the error is sticky", "cuda_synchronize", cuda_synchronize(0));
    expect_error(StatusCode::Internal, "the error is sticky", "slice_grad_into", arguments.overwrite(nullptr));
    expect_error(StatusCode::Internal, "the error is sticky", "slice_grad", arguments.make(nullptr));
    expect_error(StatusCode::Internal, "the error is sticky", "multi_slice_grad", arguments.sum(nullptr));
  }
}

// What CUDA's own calls do with a destroyed stream. Some drivers crash, at every call with one.
enum class DeadStreams { AreNoticed, AreNot, CannotBeMade };

// Tried in a process of its own, before this one uses the driver.
DeadStreams try_dead_stream() {
  const pid_t child = fork();
  if (child == 0) {
    cudaStream_t stream = nullptr;
    if (cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking) != cudaSuccess) _exit(2);
    (void)cudaStreamDestroy(stream);
    _exit(cudaStreamSynchronize(stream) == cudaErrorInvalidResourceHandle ? 0 : 1);
  }
  int status = 0;
  if (waitpid(child, &status, 0) != child || !WIFEXITED(status)) return DeadStreams::AreNot;
  return WEXITSTATUS(status) == 0   ? DeadStreams::AreNoticed
         : WEXITSTATUS(status) == 1 ? DeadStreams::AreNot
                                    : DeadStreams::CannotBeMade;
}

void dead_stream() {
  const Arguments arguments;
  cudaStream_t stream = nullptr;
  if (cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking) != cudaSuccess) ++failures;
  {
    Tensor made = slice_grad(arguments.selection, arguments.dy(), {.stream = stream}).value();
    expect(cuda_synchronize(0, stream).ok(), "a gradient on a live stream", Status());
    if (cudaStreamDestroy(stream) != cudaSuccess) ++failures;
  }  // its memory is freed after its stream was destroyed
  expect_error(StatusCode::InvalidArgument, "was the stream destroyed", "slice_grad_into", arguments.overwrite(stream));
  expect_error(StatusCode::InvalidArgument, "was the stream destroyed", "slice_grad", arguments.make(stream));
  expect_error(StatusCode::InvalidArgument, "was the stream destroyed", "multi_slice_grad", arguments.sum(stream));
  expect_error(StatusCode::InvalidArgument, "was the stream destroyed", "cuda_synchronize",
               cuda_synchronize(0, stream));
  const Status after = arguments.make(nullptr);
  expect(after.ok(), "a gradient on the default stream afterwards", after);
}

void no_kernel() {
  const Arguments arguments;
  for (int i = 0; i < 2; ++i) {
    expect_error(StatusCode::FailedPrecondition, "backslice was compiled for other devices", "slice_grad_into",
                 arguments.overwrite(nullptr));
    expect_error(StatusCode::FailedPrecondition, "backslice was compiled for other devices", "slice_grad",
                 arguments.make(nullptr));
  }
  expect(cudaGetLastError() == cudaSuccess, "nothing is left behind", Status());
  expect(cudaDeviceSynchronize() == cudaSuccess, "the device can be used", Status());
}

}  // namespace

int main(int argc, char** argv) {
  const char* what = argc == 2 ? argv[1] : "";
  std::cout << what << std::endl;
  const bool is_dead_stream = std::strcmp(what, "dead_stream") == 0;
  if (is_dead_stream && try_dead_stream() == DeadStreams::AreNot) {
    std::cout << "  this driver crashes at any call with a destroyed stream, or takes it for a live one\n";
    return kSkipped;
  }
  if (const auto devices = cuda_devices(); !devices.ok()) {
    std::cout << "  there is no device to try it on: " << devices.status() << "\n";
    return 3;
  }
  if (std::strcmp(what, "sticky") == 0) {
    sticky();
  } else if (is_dead_stream) {
    dead_stream();
  } else if (std::strcmp(what, "no_kernel") == 0) {
    no_kernel();
  } else {
    std::cout << "expected sticky, dead_stream or no_kernel\n";
    return 2;
  }
  expect_the_cpu_works();
  return failures;
}
