// Memory with gaps, for the tests of outputs.
#pragma once

#include <vector>

#include "testing.h"

namespace backslice::testing {

// Every second item of the caller's memory, from the last to the first, so that nothing is dense.
template <class T>
struct Gaps {
  explicit Gaps(Ints shape, T before)
      : memory(static_cast<std::size_t>(2 * Shape::make(shape).value().elements() + 1), before) {
    Dims strides(shape);
    std::int64_t stride = -2;
    for (int axis = strides.size() - 1; axis >= 0; --axis) {
      const std::int64_t extent = strides[axis];
      strides[axis] = stride;
      stride *= extent;
    }
    view = View::strided(&memory.back(), shape, strides).value();
  }
  std::vector<T> elements() const {
    std::vector<T> list;
    for_each_index(view.shape(),
                   [&](const auto& index) { list.push_back(*reinterpret_cast<const T*>(address(view, index))); });
    return list;
  }
  std::vector<T> memory;
  View view;
};

}  // namespace backslice::testing
