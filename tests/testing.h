// What the C++ tests share: tensors from braces, random layouts, and element-by-element ground truth.
#pragma once

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>
#include <functional>
#include <limits>
#include <random>
#include <string>
#include <vector>

#include "backslice/backslice.h"

namespace backslice::testing {

inline constexpr std::int64_t kMin = std::numeric_limits<std::int64_t>::min();
inline constexpr std::int64_t kMax = std::numeric_limits<std::int64_t>::max();

// Returns the Selection of a valid index.
inline Selection at(Ints shape, std::string_view index) { return Selection::from_index(shape, index).value(); }

using ::testing::ElementsAre;
using ::testing::ElementsAreArray;
using ::testing::HasSubstr;

// The first elements of the data, as many as the shape has.
template <class T>
ConstView view_of(const std::vector<T>& data, Ints shape) {
  return ConstView::contiguous(data.data(), dtype_of<T>, shape).value();
}

template <class T>
View view_of(std::vector<T>& data, Ints shape) {
  return View::contiguous(data.data(), dtype_of<T>, shape).value();
}

// A tensor that owns these values.
template <class T = float>
Tensor tensor_of(const std::vector<T>& values, Ints shape) {
  return Tensor::copy_of(values, shape).value();
}

template <class T>
std::vector<T> elements(const Tensor& tensor) {
  const auto all = tensor.elements<T>().value();
  return {all.begin(), all.end()};
}

// 1, 2, 3, ...
template <class T>
std::vector<T> counting(std::int64_t size) {
  std::vector<T> data(static_cast<std::size_t>(size));
  for (std::size_t i = 0; i < data.size(); ++i) data[i] = static_cast<T>(i + 1);
  return data;
}

// Calls `body` with every index tuple of the shape, in row-major order.
inline void for_each_index(Ints shape, const std::function<void(const std::vector<std::int64_t>&)>& body) {
  std::vector<std::int64_t> index(shape.size(), 0);
  for (std::int64_t extent : shape) {
    if (extent == 0) return;
  }
  while (true) {
    body(index);
    std::size_t axis = shape.size();
    while (axis > 0 && ++index[axis - 1] == shape[axis - 1]) index[--axis] = 0;
    if (axis == 0) return;
  }
}

template <class AnyView>
auto address(const AnyView& view, Ints index) {
  auto* p = view.data;
  for (std::size_t i = 0; i < index.size(); ++i) p += index[i] * view.layout.strides[static_cast<int>(i)];
  return p;
}

// The input index that each result index comes from, straight from the definition.
inline std::vector<std::int64_t> input_index(const Selection& s, Ints result_index) {
  std::vector<std::int64_t> input(static_cast<std::size_t>(s.shape().rank()));
  for (int i = 0; i < s.shape().rank(); ++i) input[i] = s.axis(i).start;
  for (std::size_t i = 0; i < result_index.size(); ++i) {
    const std::int64_t axis = s.result_axes()[i];
    if (axis != Selection::kNewAxis) input[axis] += result_index[i] * s.axis(static_cast<int>(axis)).step;
  }
  return input;
}

// The flat positions that a selection takes, in order: two selections that give the same list are the same slice.
inline std::vector<std::int64_t> positions(const Selection& s) {
  std::vector<std::int64_t> list;
  for_each_index(s.result_shape(), [&](const std::vector<std::int64_t>& index) {
    const auto input = input_index(s, index);
    std::int64_t flat = 0;
    for (int i = 0; i < s.shape().rank(); ++i) flat = flat * s.shape()[i] + input[i];
    list.push_back(flat);
  });
  return list;
}

// A tensor of bytes with random strides: axes in random order, gaps between, some reversed. It does not overlap itself.
struct RandomTensor {
  std::vector<std::byte> memory;
  View view;
};

inline RandomTensor random_tensor(std::mt19937& random, DType dtype, Ints shape) {
  const auto pick = [&](int n) { return std::uniform_int_distribution<int>(0, n - 1)(random); };
  std::vector<int> order(shape.size());
  for (std::size_t i = 0; i < order.size(); ++i) order[i] = static_cast<int>(i);
  std::shuffle(order.begin(), order.end(), random);
  std::vector<std::int64_t> strides(shape.size());
  std::int64_t stride = item_size(dtype) + (pick(3) == 0 ? pick(5) : 0), first = pick(4);
  for (int axis : order) {
    strides[axis] = stride;
    stride = stride * std::max<std::int64_t>(shape[axis], 1) + (pick(3) == 0 ? pick(7) : 0);
    if (pick(3) == 0 && shape[axis] > 0) {
      first += (shape[axis] - 1) * strides[axis];
      strides[axis] = -strides[axis];
    }
  }
  RandomTensor tensor;
  tensor.memory.resize(static_cast<std::size_t>(stride + 16));
  for (std::byte& b : tensor.memory) b = static_cast<std::byte>(pick(256));
  tensor.view = View::strided(tensor.memory.data() + first, dtype, shape, strides).value();
  return tensor;
}

// A contiguous tensor of random bytes at a random offset from a cache line.
inline RandomTensor contiguous_tensor(std::mt19937& random, DType dtype, Ints shape) {
  RandomTensor tensor;
  tensor.view = View::contiguous(nullptr, dtype, shape).value();
  const std::int64_t first = std::uniform_int_distribution<int>(0, 70)(random);
  tensor.memory.resize(static_cast<std::size_t>(first + tensor.view.elements() * item_size(dtype) + 70));
  for (std::byte& b : tensor.memory) b = static_cast<std::byte>(random());
  tensor.view.data = tensor.memory.data() + first;
  return tensor;
}

// The same at an address that 16 divides.
inline RandomTensor aligned_tensor(std::mt19937& random, DType dtype, Ints shape) {
  RandomTensor tensor;
  tensor.view = View::contiguous(nullptr, dtype, shape).value();
  tensor.memory.resize(static_cast<std::size_t>(64 + tensor.view.elements() * item_size(dtype)));
  for (std::byte& b : tensor.memory) b = static_cast<std::byte>(random());
  tensor.view.data = tensor.memory.data() + 32;
  return tensor;
}

// Without NaNs, whose bits depend on the order of operands: a byte without its bit 6 starts no NaN.
inline void remove_nans(std::vector<std::byte>& memory) {
  for (std::byte& b : memory) b &= std::byte{0xbf};
}

// Runs kernel(view) on a copy of the tensor's memory and returns that, so that bytes between elements are seen too.
template <class Kernel>
std::vector<std::byte> run_on_copy(const RandomTensor& tensor, const Kernel& kernel) {
  std::vector<std::byte> memory = tensor.memory;
  View view = tensor.view;
  view.data = memory.data() + (tensor.view.data - tensor.memory.data());
  kernel(view);
  return memory;
}

// An index of one item, many times.
inline Index repeated(std::size_t count, const IndexItem& item) { return std::vector<IndexItem>(count, item); }

inline Selection random_selection(std::mt19937& random, int max_rank) {
  const auto pick = [&](std::int64_t n) { return std::uniform_int_distribution<std::int64_t>(0, n - 1)(random); };
  Dims dims;
  Index index;
  for (std::int64_t rank = pick(max_rank + 1); rank > 0; --rank) {
    const std::int64_t extent = pick(12) == 0 ? 0 : 1 + pick(6);
    dims.push_back(extent);
    if (pick(8) == 0) index.push_back(NewAxis{});
    if (extent > 0 && pick(5) == 0) {
      index.push_back(pick(2 * extent) - extent);
    } else {
      SliceRange range;
      if (pick(3) != 0) range.start = pick(2 * extent + 5) - extent - 2;
      if (pick(3) != 0) range.stop = pick(2 * extent + 5) - extent - 2;
      if (pick(2) != 0) range.step = pick(2) != 0 ? 1 + pick(3) : -1 - pick(3);
      index.push_back(range);
    }
  }
  return Selection::from_index(dims, index).value();
}

// A slice of every axis of the shape, of any step, often reversed or reaching past the ends.
inline Selection random_slice_of(std::mt19937& random, const Shape& shape) {
  Index index;
  for (std::int64_t extent : shape) {
    const auto pick = [&] { return static_cast<std::int64_t>(random() % (2 * extent + 3)) - extent - 1; };
    const std::int64_t steps[] = {1, 1, 2, -1, 3, -2};
    index.push_back(SliceRange{pick(), pick(), steps[random() % 6]});
  }
  return Selection::from_index(shape, index).value();
}

// The error of a Status or a Result, to compare in one line: EXPECT_THAT(error(...), IsError(code, "part", ...)).
inline Status error(const Status& status) { return status; }
template <class T>
Status error(const Result<T>& result) {
  return result.status();
}

template <class T, class... Parts>
::testing::AssertionResult is_error(const T& outcome, StatusCode code, const Parts&... parts) {
  const Status status = error(outcome);
  if (status.code() != code) return ::testing::AssertionFailure() << "got " << status.to_string();
  for (const std::string& part : std::vector<std::string>{parts...}) {
    if (status.message().find(part) == std::string::npos) {
      return ::testing::AssertionFailure() << "no \"" << part << "\" in: " << status.message();
    }
  }
  return ::testing::AssertionSuccess();
}

inline constexpr StatusCode kInvalid = StatusCode::InvalidArgument;

}  // namespace backslice::testing
