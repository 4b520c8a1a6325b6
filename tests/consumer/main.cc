// A complete program: the gradient of x[1:3, ::2], printed.
#include <backslice/backslice.h>

#include <iostream>

namespace bs = backslice;

int main() {
  const float dy[] = {1, 2, 3, 4, 5, 6};
  const auto view = bs::ConstView::contiguous(dy, bs::DType::Float32, {2, 3});
  if (!view.ok()) return 1;
  const bs::TfSlice spec{.begin = {1, 0}, .end = {3, 5}, .strides = {1, 2}};
  auto dx = bs::strided_slice_grad({4, 5}, spec, *view);
  if (!dx.ok()) {
    std::cerr << dx.status().to_string() << '\n';
    return 1;
  }
  for (float v : dx->elements<float>()) std::cout << v << ' ';
  std::cout << '\n';
  return 0;
}
