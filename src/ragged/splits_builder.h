// A list of row splits, built from its first, which is 0.
#pragma once

#include <limits>

#include "backslice/tensor.h"
#include "core/checked_math.h"
#include "core/errors.h"

namespace backslice {

class SplitsBuilder {
 public:
  // For `count` rows; dtype is Int32 or Int64.
  static Result<SplitsBuilder> make(DType dtype, std::int64_t count) {
    const auto size = checked_add(count, 1);
    if (!size) return resource_exhausted("splits for ", count, " rows are more than there can be");
    auto tensor = Tensor::make(dtype, *Shape::make({*size}));
    if (!tensor.ok()) return tensor.status();
    return SplitsBuilder(*std::move(tensor));
  }

  void push(std::int64_t split) {
    if (tensor_.dtype() == DType::Int32) {
      fits_ &= split <= std::numeric_limits<std::int32_t>::max();
      tensor_.elements<std::int32_t>()[at_++] = static_cast<std::int32_t>(split);
    } else {
      tensor_.elements<std::int64_t>()[at_++] = split;
    }
  }

  // Precondition: `count` splits were pushed.
  Result<Tensor> finish() const {
    if (fits_) return tensor_;
    return invalid_argument("the splits of the result do not fit int32; ask for int64");
  }

 private:
  explicit SplitsBuilder(Tensor tensor) : tensor_(std::move(tensor)) { push(0); }

  Tensor tensor_;
  std::size_t at_ = 0;
  bool fits_ = true;
};

}  // namespace backslice
