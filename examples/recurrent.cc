// A recurrent loop through a TensorArray, backwards through its gradients,
// checked against finite differences.
//
// The states h[t+1] = tanh(w x[t] + u h[t]) go through a TensorArray of three
// numbers per element. Two losses look at them: half the squares of all states,
// and the sum of the last one. Each has its own gradient source, and a third
// source carries both at once: its elements have an axis of two losses before
// the three numbers.
#include <backslice/backslice.h>

#include <cmath>
#include <cstdio>

namespace {

using namespace backslice;

constexpr std::int64_t kSteps = 6, kSize = 3;
constexpr double kInput[kSteps] = {0.5, -1, 0.25, 2, -0.75, 1};

Tensor tensor(const std::vector<double>& values, Ints shape) {
  return Tensor::copy_of(values, shape).value();
}

void must(const Status& status) {
  if (!status.ok()) throw std::runtime_error(status.to_string());
}

struct Weights {
  double w = 0.7, u = -0.4;
};

TensorArray forward(const Weights& weights) {
  TensorArrayOptions options;
  options.element_shape = Shape::make({kSize}).value();
  options.clear_after_read = false;
  options.name = "states";
  TensorArray states =
      TensorArray::make(kSteps + 1, DType::Float64, options).value();
  must(states.write(0, tensor({0.1, 0.2, 0.3}, {kSize})));
  for (std::int64_t t = 0; t < kSteps; ++t) {
    std::vector<double> next;
    const Tensor state = states.read(t).value();
    for (double h : state.elements<double>().value())
      next.push_back(std::tanh(weights.w * kInput[t] + weights.u * h));
    must(states.write(t + 1, tensor(next, {kSize})));
  }
  return states;
}

std::vector<double> losses(const Weights& weights) {
  const Tensor all = forward(weights).stack().value();
  const std::span h = all.elements<double>().value();
  double square = 0, last = 0;
  for (double v : h) square += v * v / 2;
  for (double v : h.last(kSize)) last += v;
  return {square, last};
}

// Returns the gradients with respect to (w, u), for each of the `count` losses
// that the elements hold.
std::vector<Weights> backward(const Weights& weights, TensorArray states,
                              TensorArray gradient, std::int64_t count) {
  std::vector<Weights> found(static_cast<std::size_t>(count), Weights{0, 0});
  const Tensor all = states.stack().value();
  const std::span h = all.elements<double>().value();
  for (std::int64_t t = kSteps - 1; t >= 0; --t) {
    const Tensor dh = gradient.read(t + 1).value();
    const std::span terms = dh.elements<double>().value();
    std::vector<double> before;
    for (std::int64_t loss = 0; loss < count; ++loss) {
      for (std::int64_t i = 0; i < kSize; ++i) {
        const double next = h[static_cast<std::size_t>((t + 1) * kSize + i)];
        const double da = terms[static_cast<std::size_t>(loss * kSize + i)] *
                          (1 - next * next);
        found[static_cast<std::size_t>(loss)].w += da * kInput[t];
        found[static_cast<std::size_t>(loss)].u +=
            da * h[static_cast<std::size_t>(t * kSize + i)];
        before.push_back(da * weights.u);
      }
    }
    must(gradient.write(
        t, tensor(before, dh.shape())));  // added to the loss's gradient
  }
  return found;
}

}  // namespace

int main() {
  const Weights weights;
  TensorArray states = forward(weights);
  const Tensor all = states.stack().value();
  const std::span h = all.elements<double>().value();

  TensorArray square = states.grad("square").value(),
              last = states.grad("last").value();
  TensorArray both = states.grad_with_shape("both", {2}).value();
  must(square.unstack(all));  // the gradient of stack is unstack
  must(last.write(
      kSteps, tensor({1, 1, 1}, {kSize})));  // unwritten states read as zeros
  for (std::int64_t t = 0; t <= kSteps; ++t) {
    const double* at = h.data() + t * kSize;
    must(both.write(t, tensor({at[0], at[1], at[2], 0, 0, 0}, {2, kSize})));
  }
  must(both.write(kSteps, tensor({0, 0, 0, 1, 1, 1}, {2, kSize})));

  const Weights of_square = backward(weights, states, square, 1)[0],
                of_last = backward(weights, states, last, 1)[0];
  const std::vector<Weights> of_both = backward(weights, states, both, 2);
  constexpr double kStep = 1e-6;
  const auto difference = [&](std::size_t loss, double dw, double du) {
    return (losses({weights.w + dw, weights.u + du})[loss] -
            losses({weights.w - dw, weights.u - du})[loss]) /
           (2 * kStep);
  };
  double worst = 0;
  for (std::size_t loss = 0; loss < 2; ++loss) {
    const Weights& one = loss == 0 ? of_square : of_last;
    for (const Weights& found : {one, of_both[loss]}) {
      worst = std::max(worst, std::abs(found.w - difference(loss, kStep, 0)));
      worst = std::max(worst, std::abs(found.u - difference(loss, 0, kStep)));
    }
  }
  std::printf("largest difference from finite differences: %.1e\n", worst);
  return worst < 1e-6 ? 0 : 1;
}
