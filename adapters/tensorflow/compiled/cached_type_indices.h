// Indices of types, computed once. TensorFlow's TypeIndex::Make<T>() hashes the name of the type at each call, and a
// variant calls it two or three times for each question about its type.
//
// Include this header before all others of TensorFlow: a template cannot be specialized after its first use, which is
// in the headers of variants. A const type has the name of the type, so that the values are those of TensorFlow.
#pragma once

#include "tensorflow/core/framework/type_index.h"

template <>
inline tensorflow::TypeIndex tensorflow::TypeIndex::Make<void>() {
  static const TypeIndex index = Make<const void>();
  return index;
}

#include "tensorflow/core/kernels/ragged_tensor_variant.h"

template <>
inline tensorflow::TypeIndex tensorflow::TypeIndex::Make<tensorflow::RaggedTensorVariant>() {
  static const TypeIndex index = Make<const RaggedTensorVariant>();
  return index;
}
