// A list of row splits, written from its first, which is 0.
#pragma once

#include <cstring>
#include <limits>

#include "backslice/ragged_view.h"
#include "core/checked_math.h"
#include "core/errors.h"
#include "ops/call.h"

namespace backslice {

class SplitsWriter {
 public:
  // Writes to a vector of int32 or int64, of any stride. Precondition: its dtype holds every item that will be pushed.
  explicit SplitsWriter(const View& list)
      : at_(list.data), stride_(list.layout.strides[0]), is_narrow_(list.dtype == DType::Int32) {
    push(0);
  }

  void push(std::int64_t split) {
    if (is_narrow_) {
      const auto narrow = static_cast<std::int32_t>(split);
      std::memcpy(at_, &narrow, sizeof(narrow));
    } else {
      std::memcpy(at_, &split, sizeof(split));
    }
    at_ += stride_;
  }

 private:
  std::byte* at_;
  std::int64_t stride_;
  bool is_narrow_;
};

// Checks that the dtype can hold a list that ends at `last`.
inline Status check_splits_fit(std::int64_t last, DType dtype) {
  if (dtype == DType::Int64 || last <= std::numeric_limits<std::int32_t>::max()) return Status();
  return invalid_argument("the splits of the result do not fit int32; ask for int64");
}

// Returns the length of the splits of that many rows.
inline Result<std::int64_t> splits_of_rows(std::int64_t rows) {
  if (const auto length = checked_add(rows, 1)) return *length;
  return resource_exhausted(rows, " rows need more splits than memory can hold");
}

// Allocates splits in the CPU's memory, wherever the values are: the CPU reads them.
inline Result<Tensor> allocate_splits(DType dtype, std::int64_t length, const Call& call) {
  Allocator& allocator = call.device.is_cpu() ? call.allocator : pool_allocator();
  return Tensor::make(dtype, *Shape::make({length}), 0, Contents::Uninitialised, allocator);
}

}  // namespace backslice
