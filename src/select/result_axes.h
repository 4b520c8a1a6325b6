// Collects the axes of a result, of which there may be more than a Selection has room for.
#pragma once

#include <array>
#include <vector>

#include "backslice/inline_vector.h"
#include "backslice/ints.h"

namespace backslice {

class ResultAxes {
 public:
  void push_back(std::int64_t axis) {
    if (size_ < kRoom) {
      inline_[size_++] = axis;
    } else {
      if (overflow_.empty()) overflow_.assign(inline_.begin(), inline_.end());
      overflow_.push_back(axis);
    }
  }
  operator Ints() const { return overflow_.empty() ? Ints(inline_.data(), size_) : Ints(overflow_); }

 private:
  static constexpr std::size_t kRoom = 2 * kMaxRank;
  std::array<std::int64_t, kRoom> inline_;
  std::size_t size_ = 0;
  std::vector<std::int64_t> overflow_;
};

}  // namespace backslice
