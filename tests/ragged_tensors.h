// Shared by the tests of ragged tensors.
#pragma once

#include <optional>
#include <string_view>
#include <vector>

#include "backslice/ragged_slice.h"
#include "testing.h"

namespace backslice::testing {

inline Tensor vector_of(const std::vector<float>& values) { return tensor_of(values, {std::ssize(values)}); }

template <class T = std::int64_t>
Tensor splits_of(const std::vector<T>& splits) {
  return tensor_of<T>(splits, {std::ssize(splits)});
}

inline RaggedTensor ragged(const std::vector<float>& values, const std::vector<std::vector<std::int64_t>>& splits) {
  std::vector<Tensor> lists;
  for (const auto& list : splits) lists.push_back(splits_of(list));
  return RaggedTensor::make(vector_of(values), lists).value();
}

// [[[1,2]], [], [[],[3,4,5,6]]]
inline RaggedTensor deep() { return ragged({1, 2, 3, 4, 5, 6}, {{0, 1, 1, 3}, {0, 2, 2, 6}}); }

// One without splits, as an element of variants.
inline std::optional<RaggedTensor> piece(const std::vector<float>& values) {
  return RaggedTensor::make(vector_of(values), {}).value();
}

template <class T = float>
std::vector<T> values_of(const RaggedTensor& rt) {
  Tensor values = rt.values();
  return elements<T>(values);
}

inline Selection rows(std::int64_t count, std::string_view text) { return *Selection::from_index({count}, text); }

}  // namespace backslice::testing
