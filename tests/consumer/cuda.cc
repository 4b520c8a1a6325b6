// The gradient of a slice on a CUDA device, compared with the CPU's. Where
// there is no device, it says why.
#include <backslice/backslice.h>

#include <algorithm>
#include <iostream>
#include <numeric>
#include <vector>

backslice::Status gradient(const backslice::Selection& selection,
                           const float* dy, float* dx,
                           backslice::CudaStream stream) {
  using namespace backslice;
  const Device device = Device::cuda(0);
  const auto from = ConstView::contiguous(dy, selection.result_shape(), device);
  const auto to = View::contiguous(dx, selection.shape(), device);
  if (!from) return from.status();
  if (!to) return to.status();
  return slice_grad_into(selection, *from, *to, {.stream = stream});
}

int main() {
  using namespace backslice;
  const auto devices = cuda_devices();
  if (!devices) {
    std::cout << "No CUDA here: " << devices.status() << "\n";
    return 0;
  }
  const Selection selection = Selection::from_index({4, 6}, "1:3, ::2").value();
  std::vector<float> dy(6), dx(24);
  std::iota(dy.begin(), dy.end(), 1.0f);

  const auto memory = cuda_allocator(0).value();
  Tensor there =
      Tensor::make(DType::Float32, {2, 3}, 0, Contents::Uninitialised, *memory)
          .value();
  Tensor result =
      Tensor::make(DType::Float32, {4, 6}, 0, Contents::Uninitialised, *memory)
          .value();
  const auto* from = reinterpret_cast<const float*>(there.data());
  auto* to = reinterpret_cast<float*>(result.view().data);
  for (const Status& step :
       {cuda_copy(there, ConstView::of(dy, {2, 3}).value()),
        gradient(selection, from, to, nullptr),
        cuda_copy(View::of(dx, {4, 6}).value(), result), cuda_synchronize(0)}) {
    if (!step.ok()) {
      std::cerr << step << "\n";
      return 1;
    }
  }
  const Tensor expected =
      slice_grad(selection, ConstView::of(dy, {2, 3}).value()).value();
  const bool is_right =
      std::ranges::equal(dx, expected.elements<float>().value());
  std::cout << (*devices)[0].name
            << (is_right ? ": the same as on the CPU\n"
                         : ": not the same as on the CPU\n");
  return is_right ? 0 : 1;
}
