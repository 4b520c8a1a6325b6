// A program of somebody else's: the gradient of x[1:3, ::2], printed.
#include <backslice/backslice.h>

#include <iostream>

int main() {
  const float dy[] = {1, 2, 3, 4, 5, 6};
  const auto view = backslice::ConstView::contiguous(dy, backslice::DType::Float32, {2, 3});
  if (!view.ok()) return 1;
  auto dx = backslice::strided_slice_grad({4, 5}, {.begin = {1, 0}, .end = {3, 5}, .strides = {1, 2}}, *view);
  if (!dx.ok()) {
    std::cerr << dx.status().to_string() << '\n';
    return 1;
  }
  for (float v : dx->elements<float>()) std::cout << v << ' ';
  std::cout << '\n';
  return 0;
}
