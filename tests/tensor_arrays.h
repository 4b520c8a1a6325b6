// Shared by the tests of tensor arrays.
#pragma once

#include <string>
#include <vector>

#include "backslice/tensor_array.h"
#include "testing.h"

namespace backslice::testing {

inline TensorArray array(std::int64_t size, TensorArrayOptions options = {}) {
  if (options.name.empty()) options.name = "steps";
  return TensorArray::make(size, DType::Float32, options).value();
}

inline PartialShape shape(Ints dims) { return PartialShape::make(dims).value(); }

inline std::vector<float> read(TensorArray& a, std::int64_t index) { return elements<float>(a.read(index).value()); }

template <class AnyResult>
std::string message(const AnyResult& result) {
  if constexpr (std::is_same_v<AnyResult, Status>) {
    return result.message();
  } else {
    return result.status().message();
  }
}

}  // namespace backslice::testing
