// PerAxis<T>: room for one T per axis, indexed by the signed number of the axis.
#pragma once

#include <algorithm>
#include <cstddef>

#include "backslice/inline_vector.h"

namespace backslice {

template <class T, int kRoom = kMaxRank>
struct PerAxis {
  T items[kRoom];

  T& operator[](std::ptrdiff_t axis) { return items[axis]; }
  const T& operator[](std::ptrdiff_t axis) const { return items[axis]; }
  void fill(const T& item) { std::fill_n(items, kRoom, item); }
};

}  // namespace backslice
