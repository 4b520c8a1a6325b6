#include "parts.h"

#include <algorithm>
#include <limits>
#include <optional>

#include "core/boundary.h"
#include "core/checked_math.h"
#include "core/errors.h"

namespace backslice::jax {
namespace {

using throwing::refuse;
using throwing::unwrap;

[[noreturn]] void refuse_parts(const char* reason) {
  refuse(invalid_argument("the attribute `parts` is malformed: ", reason));
}

// The first and the last element of a dy, counted from the beginning of its argument.
struct Reach {
  std::int64_t first, last;
};

std::optional<Reach> reach_of(const Shape& shape, std::int64_t offset, Ints strides) {
  Reach reach{offset, offset};
  for (int axis = 0; axis < shape.rank(); ++axis) {
    const auto length = checked_multiply(shape[axis] - 1, strides[static_cast<std::size_t>(axis)]);
    if (!length) return std::nullopt;
    std::int64_t& end = *length < 0 ? reach.first : reach.last;
    const auto moved = checked_add(end, *length);
    if (!moved) return std::nullopt;
    end = *moved;
  }
  return reach;
}

class Assignment {
 public:
  Assignment(std::span<const Selection> slices, Ints parts)
      : slices_(slices), dys_(slices.size()), left_(parts.begin(), parts.size()) {}

  void read(const ConstView& argument) {
    const std::int64_t count = take();
    if (count >= 0) return one_after_the_other(argument, count);
    for (std::int64_t i = count; i < 0; ++i) anywhere(argument);
  }

  std::vector<std::optional<ConstView>> end() && {
    if (!left_.empty()) refuse_parts("it has more numbers than the arguments need");
    if (!std::all_of(dys_.begin(), dys_.end(), [](const auto& dy) { return dy.has_value(); }))
      refuse_parts("a slice has no dy");
    return std::move(dys_);
  }

 private:
  std::int64_t take() {
    if (left_.empty()) refuse_parts("it has fewer numbers than the arguments need");
    const std::int64_t number = left_.front();
    left_ = left_.subspan(1);
    return number;
  }

  // Returns the number of a slice without a dy so far.
  std::size_t free_slice(std::int64_t number) const {
    if (number < 0 || number >= std::ssize(slices_)) refuse_parts("it names a slice that is not there");
    if (dys_[static_cast<std::size_t>(number)]) refuse_parts("a slice has two dy's");
    return static_cast<std::size_t>(number);
  }

  void one_after_the_other(const ConstView& argument, std::int64_t count) {
    const std::int64_t size = argument.elements() * argument.layout.item_size;
    std::int64_t at = 0;
    for (std::int64_t i = 0; i < count && at <= size; ++i) {
      const std::size_t slice = free_slice(next_++);
      const ConstView dy = unwrap(
          ConstView::contiguous(argument.data + at, argument.dtype, slices_[slice].result_shape(), 0, argument.device));
      at += dy.elements() * dy.layout.item_size;
      dys_[slice] = dy;
    }
    if (at != size)
      refuse(
          invalid_argument("an array of shape ", Ints(argument.shape()), " is not the dy's of its ", count, " slices"));
  }

  void anywhere(const ConstView& argument) {
    const std::size_t slice = free_slice(take());
    const Shape& shape = slices_[slice].result_shape();
    const std::int64_t offset = take(), item = argument.layout.item_size;
    Dims strides, bytes;
    for (int axis = 0; axis < shape.rank(); ++axis) {
      const std::int64_t stride = take();
      strides.push_back(stride);
      bytes.push_back(checked_multiply(stride, item).value_or(0));  // refused below if it does not fit
    }
    const auto reach = reach_of(shape, offset, strides);
    const bool is_empty = shape.elements() == 0;
    if (!is_empty && (!reach || reach->first < 0 || reach->last >= argument.elements()))
      refuse(invalid_argument("a dy of shape ", Ints(shape), " at ", offset, " with strides ", Ints(strides),
                              " does not lie in an array of shape ", Ints(argument.shape())));
    const std::int64_t at = is_empty ? 0 : offset * item;
    dys_[slice] = unwrap(ConstView::strided(argument.data + at, argument.dtype, shape, bytes, 0, argument.device));
  }

  std::span<const Selection> slices_;
  std::vector<std::optional<ConstView>> dys_;
  std::span<const std::int64_t> left_;
  std::int64_t next_ = 0;
};

}  // namespace

std::vector<SliceGradient> gradients_of(std::vector<Selection> slices, std::span<const ConstView> arguments,
                                        Ints parts) {
  Assignment assignment(slices, parts);
  for (const ConstView& argument : arguments) assignment.read(argument);
  const auto dys = std::move(assignment).end();
  std::vector<SliceGradient> gradients;
  gradients.reserve(slices.size());
  for (std::size_t i = 0; i < slices.size(); ++i) gradients.push_back({std::move(slices[i]), *dys[i]});
  return gradients;
}

}  // namespace backslice::jax
