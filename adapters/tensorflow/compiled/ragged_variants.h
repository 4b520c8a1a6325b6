// Ragged tensors in variants.
#pragma once

#include "cached_type_indices.h"
#include "errors.h"

namespace backslice_tensorflow {

using tensorflow::RaggedTensorVariant;
using tensorflow::Variant;

// Returns null if the variant holds something else, or nothing.
inline const RaggedTensorVariant* find_ragged(const Variant& variant) { return variant.get<RaggedTensorVariant>(); }

inline absl::Status is_not_ragged(const Variant& element, std::int64_t i) {  // in TensorFlow's words
  return invalid_argument("Input Variant element at index ", i,
                          " doesn't hold a RaggedTensorVariant: ", element.DebugString());
}

// Whether the element is missing: TensorFlow's zero for any variant is the number 0, which the gradient of a slice has
// at elements that were not selected.
inline bool is_missing(const Variant& variant) {
  if (variant.is_empty()) return true;
  const int* const number = variant.get<int>();
  return number != nullptr && *number == 0;
}

}  // namespace backslice_tensorflow
