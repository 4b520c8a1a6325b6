// The adjoint of a heat equation: the gradients of the slices of its stencil,
// added up in one pass.
//
// A plate cools: each step, an inner point moves towards its four neighbours,
// which are slices of the plate. In the backward pass, the gradient of each
// slice goes to the slice's position. The adjoint identity
// <A u, d> = <u, A* d> checks it, and a few steps of gradient descent find the
// temperature at the start from the one at the end.
#include <backslice/backslice.h>

#include <cmath>
#include <cstdio>
#include <numeric>
#include <stdexcept>
#include <vector>

namespace {

using namespace backslice;

constexpr std::int64_t kSize = 24, kInner = kSize - 2;
constexpr int kSteps = 10;
constexpr double kRate = 0.2;
const char* const kNeighbours[] = {":-2, 1:-1", "2:, 1:-1", "1:-1, :-2",
                                   "1:-1, 2:"};
const char* const kBorder[] = {"0, :", "-1, :", "1:-1, 0",
                               "1:-1, -1"};  // the fixed border

using Plate = std::vector<double>;  // kSize x kSize, row by row

Selection part(const char* index) {
  return Selection::from_index({kSize, kSize}, index).value();
}

ConstView view_of(const std::vector<double>& values, Ints shape) {
  return ConstView::of(values, shape).value();
}

// Every step uses the same slices, so they are checked and planned once.
class Stencil {
 public:
  Stencil() {
    for (const char* at : kNeighbours)
      neighbours_.push_back(
          PreparedSlice::make(part(at), DType::Float64).value());
  }

  const std::vector<PreparedSlice>& neighbours() const { return neighbours_; }
  const PreparedSlice& inner() const { return inner_; }

 private:
  std::vector<PreparedSlice> neighbours_;
  PreparedSlice inner_ =
      PreparedSlice::make(part("1:-1, 1:-1"), DType::Float64).value();
};

const Stencil& stencil() {
  static const Stencil made;
  return made;
}

std::vector<double> taken(const Plate& plate, const PreparedSlice& slice) {
  std::vector<double> values(kInner * kInner);
  const View out = View::of(values, {kInner, kInner}).value();
  const Status status = slice.forward(view_of(plate, {kSize, kSize}), out);
  if (!status.ok()) throw std::runtime_error(status.to_string());
  return values;
}

Plate step(const Plate& u) {
  Plate after = u;
  for (const PreparedSlice& slice : stencil().neighbours()) {
    const std::vector<double> neighbour = taken(u, slice);
    for (std::size_t i = 0; i < neighbour.size(); ++i) {
      const std::size_t here = (i / kInner + 1) * kSize + i % kInner + 1;
      after[here] += kRate * (neighbour[i] - u[here]);
    }
  }
  return after;
}

// Computes the gradient before a step from the gradient after it.
Plate step_adjoint(const Plate& d) {
  std::vector<double> inner = taken(d, stencil().inner()), kept = inner,
                      moved = inner;
  for (double& v : kept) v *= 1 - 4 * kRate;
  for (double& v : moved) v *= kRate;
  std::vector<SliceGradient> pieces{
      {part("1:-1, 1:-1"), view_of(kept, {kInner, kInner})}};
  for (const char* at : kNeighbours)
    pieces.push_back({part(at), view_of(moved, {kInner, kInner})});
  for (const char* at : kBorder)
    pieces.push_back({part(at), select(part(at), view_of(d, {kSize, kSize}))});
  const Tensor before = multi_slice_grad({kSize, kSize}, pieces).value();
  const std::span<const double> values = before.elements<double>().value();
  return {values.begin(), values.end()};
}

Plate simulate(Plate u) {
  for (int i = 0; i < kSteps; ++i) u = step(u);
  return u;
}

double dot(const Plate& a, const Plate& b) {
  return std::inner_product(a.begin(), a.end(), b.begin(), 0.0);
}

Plate difference(Plate a, const Plate& b) {
  for (std::size_t i = 0; i < a.size(); ++i) a[i] -= b[i];
  return a;
}

}  // namespace

int main() {
  Plate truth(kSize * kSize), other(kSize * kSize);
  for (std::size_t i = 0; i < truth.size(); ++i) {
    const double row = static_cast<double>(i / kSize) - 8,
                 column = static_cast<double>(i % kSize) - 14;
    truth[i] = std::exp(-(row * row + column * column) / 8);
    other[i] = std::sin(0.7 * static_cast<double>(i));
  }
  const double gap =
      std::abs(dot(step(truth), other) - dot(truth, step_adjoint(other)));

  const Plate target = simulate(truth);
  Plate guess(kSize * kSize, 0.0);
  const auto loss = [&](const Plate& u) {
    const Plate error = difference(simulate(u), target);
    return dot(error, error) / 2;
  };
  const double before = loss(guess);
  for (int i = 0; i < 200; ++i) {
    Plate d = difference(simulate(guess), target);
    for (int j = 0; j < kSteps; ++j) d = step_adjoint(d);
    guess = difference(guess, d);
  }
  const double after = loss(guess);
  std::printf("adjoint identity holds to %.1e; loss %.1e before, %.1e after\n",
              gap, before, after);
  return gap < 1e-10 && after < 1e-3 * before ? 0 : 1;
}
