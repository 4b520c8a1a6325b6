// A complete program: the gradient of x[1:3, ::2], printed.
#include <backslice/backslice.h>

#include <iostream>
#include <vector>

using namespace backslice;

int main() {
  const std::vector<float> dy = {1, 2, 3, 4, 5, 6};
  const Result<ConstView> view = ConstView::of(dy, {2, 3});
  const Result<Selection> slice = Selection::from_index({4, 5}, "1:3, ::2");
  if (!view || !slice) return 1;
  const Result<Tensor> dx = slice_grad(*slice, *view);
  if (!dx) {
    std::cerr << dx.status() << '\n';
    return 1;
  }
  for (float v : dx->elements<float>().value()) std::cout << v << ' ';
  std::cout << '\n';
}
