// Small gradients are written without a plan if the context is the default one. The result is the same as with a plan.
#include <gtest/gtest.h>

#include <algorithm>
#include <optional>
#include <random>
#include <string>
#include <vector>

#include "backslice/backslice.h"
#include "ops/call.h"

namespace backslice {
namespace {

class RandomGradient {
 public:
  explicit RandomGradient(unsigned seed) : random_(seed) {
    const int rank = static_cast<int>(below(6));
    std::string index;
    for (int i = 0; i < rank; ++i) {
      dims_.push_back(1 + below(i < 2 ? 12 : 3));
      index += (i > 0 ? ", " : "") + item(dims_.back());
    }
    if (below(4) == 0) index = index.empty() ? "None" : "None, " + index;
    selection_ = Selection::from_index(dims_, index.empty() ? "..." : index).value();
    dtype_ = kDTypes[below(std::size(kDTypes))];
    dy_layout_ = layout(selection_->result_shape());
    dx_layout_ = layout(selection_->shape());
    dy_ = memory(), dx_ = memory();
  }

  // The output's memory after the gradient was written.
  std::vector<std::byte> written(Write write, const Context& context) const {
    std::vector<std::byte> dx = dx_;
    const ConstView from{dy_.data() + kMiddle, dtype_, dy_layout_};
    const Status status = slice_grad_into(*selection_, from, {dx.data() + kMiddle, dtype_, dx_layout_}, write, context);
    EXPECT_TRUE(status.ok()) << status.message();
    return dx;
  }

 private:
  static constexpr std::int64_t kMiddle = 1 << 18;
  static constexpr DType kDTypes[] = {DType::Int8, DType::Int16, DType::Float32, DType::Float64, DType::Complex128};

  std::int64_t below(std::size_t n) { return static_cast<std::int64_t>(random_() % n); }

  std::string item(std::int64_t extent) {
    const std::int64_t start = below(static_cast<std::size_t>(extent));
    switch (below(4)) {
      case 0: return std::to_string(start);
      case 1: return std::to_string(start) + ":";
      case 2: return "::-" + std::to_string(1 + below(3));
      default: return std::to_string(start) + "::" + std::to_string(1 + below(3));
    }
  }

  // Axes in any order, some reversed, some with gaps.
  Layout layout(const Shape& shape) {
    Layout made = contiguous_layout(shape, item_size(dtype_));
    std::vector<int> order(static_cast<std::size_t>(shape.rank()));
    for (int i = 0; i < shape.rank(); ++i) order[static_cast<std::size_t>(i)] = i;
    if (below(2) == 0) std::shuffle(order.begin(), order.end(), random_);
    std::int64_t stride = item_size(dtype_) * (1 + below(8) / 7);
    for (auto axis = order.rbegin(); axis != order.rend(); ++axis) {
      made.strides[*axis] = below(4) == 0 ? -stride : stride;
      stride *= shape[*axis];
      if (below(4) == 0) stride += item_size(dtype_);
    }
    return made;
  }

  std::vector<std::byte> memory() {
    std::vector<std::byte> made(2 * kMiddle);
    for (std::byte& b : made) b = static_cast<std::byte>(below(2) * 3);  // no NaN of any dtype
    return made;
  }

  std::mt19937 random_;
  std::vector<std::int64_t> dims_;
  std::optional<Selection> selection_;
  DType dtype_{};
  Layout dy_layout_, dx_layout_;
  std::vector<std::byte> dy_, dx_;
};

TEST(SmallGradient, IsWhatAPlanWrites) {
  (void)Call(Context());
  for (unsigned seed = 0; seed < 200; ++seed) {
    const RandomGradient gradient(seed);
    for (const Write write : {Write::Overwrite, Write::IntoZeros, Write::Accumulate}) {
      ASSERT_EQ(gradient.written(write, {}), gradient.written(write, {.executor = &serial_executor()})) << seed;
    }
  }
}

}  // namespace
}  // namespace backslice
