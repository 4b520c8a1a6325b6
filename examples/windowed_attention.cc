// The gradient of windowed attention with respect to its values: every
// position reads its neighbours, so that many slices of one tensor overlap.
// multi_slice_grad adds their gradients up in one pass; finite differences
// check it.
#include <backslice/backslice.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <vector>

namespace {

using namespace backslice;

constexpr std::int64_t kLength = 200, kSize = 8, kReach = 5;

using Matrix = std::vector<double>;  // kLength x kSize, row by row

struct Window {
  std::int64_t lo, hi;
};

Window window(std::int64_t t) {
  return {std::max<std::int64_t>(0, t - kReach),
          std::min(kLength, t + kReach + 1)};
}

// Returns the weights with which position t reads its window: higher for
// nearer positions.
std::vector<double> weights(std::int64_t t) {
  const auto [lo, hi] = window(t);
  std::vector<double> found;
  double sum = 0;
  for (std::int64_t s = lo; s < hi; ++s) {
    found.push_back(std::exp(-0.5 * std::abs(static_cast<double>(s - t))));
    sum += found.back();
  }
  for (double& w : found) w /= sum;
  return found;
}

Matrix attend(const Matrix& values) {
  Matrix result(kLength * kSize, 0.0);
  for (std::int64_t t = 0; t < kLength; ++t) {
    const std::vector<double> w = weights(t);
    for (std::int64_t i = 0; i < kSize; ++i) {
      for (std::size_t s = 0; s < w.size(); ++s) {
        const auto at = static_cast<std::size_t>(
            (window(t).lo + static_cast<std::int64_t>(s)) * kSize + i);
        result[static_cast<std::size_t>(t * kSize + i)] += w[s] * values[at];
      }
    }
  }
  return result;
}

// Computes dvalues: the sum over t of the gradient of values[window(t)], which
// is weights(t) times dy[t].
Matrix attend_backward(const Matrix& dy) {
  std::vector<Matrix> pieces;
  std::vector<SliceGradient> slices;
  for (std::int64_t t = 0; t < kLength; ++t) {
    Matrix& piece = pieces.emplace_back();
    for (double w : weights(t)) {
      for (std::int64_t i = 0; i < kSize; ++i)
        piece.push_back(w * dy[static_cast<std::size_t>(t * kSize + i)]);
    }
  }
  for (std::int64_t t = 0; t < kLength; ++t) {
    const auto [lo, hi] = window(t);
    const Selection::Axis axes[] = {{lo, 1, hi - lo}, {0, 1, kSize}};
    const Selection selection =
        Selection::make({kLength, kSize}, axes, {0, 1}).value();
    slices.push_back(
        {selection,
         ConstView::of(pieces[static_cast<std::size_t>(t)], {hi - lo, kSize})
             .value()});
  }
  const Tensor sum = multi_slice_grad({kLength, kSize}, slices).value();
  const std::span<const double> values = sum.elements<double>().value();
  return {values.begin(), values.end()};
}

}  // namespace

int main() {
  Matrix values(kLength * kSize), dy(kLength * kSize);
  for (std::size_t i = 0; i < values.size(); ++i) {
    values[i] = std::sin(0.3 * static_cast<double>(i));
    dy[i] = std::cos(1.7 * static_cast<double>(i));
  }
  const Matrix found = attend_backward(dy);
  const auto loss = [&](const Matrix& v) {
    const Matrix y = attend(v);
    double sum = 0;
    for (std::size_t i = 0; i < y.size(); ++i) sum += y[i] * dy[i];
    return sum;
  };
  double worst = 0;
  for (std::size_t i = 0; i < values.size(); i += 37) {
    Matrix above = values, below = values;
    above[i] +=
        1;  // attention is linear in its values, so a large step is exact
    below[i] -= 1;
    worst =
        std::max(worst, std::abs(found[i] - (loss(above) - loss(below)) / 2));
  }
  std::printf(
      "%d overlapping windows; largest difference from finite differences: "
      "%.1e\n",
      static_cast<int>(kLength), worst);
  return worst < 1e-10 ? 0 : 1;
}
