// Ragged tensors in variants, found quickly: TensorFlow hashes the names of types each time that get<>() is called,
// which takes longer than everything else that is done with a short row.
#pragma once

#include <typeinfo>

#include "tensorflow/core/framework/variant.h"
#include "tensorflow/core/kernels/ragged_tensor_variant.h"

namespace backslice_tensorflow {

using tensorflow::RaggedTensorVariant;
using tensorflow::Variant;

// Returns null where the variant holds something else, or nothing.
const RaggedTensorVariant* find_ragged(const Variant& variant);

// Where its content is.
const void* place_of(const Variant& variant);

// The only two private names of TensorFlow's that are used: an explicit instantiation may name them. Without them,
// nothing compiles, and TensorFlow's own kernels stay in use.
template <class Interface, const Interface* (Variant::*GetValue)() const, class Value>
struct Reveal {
  friend const void* place_of(const Variant& variant) { return (variant.*GetValue)(); }
  friend const RaggedTensorVariant* find_ragged(const Variant& variant) { return ragged_in((variant.*GetValue)()); }

  static const RaggedTensorVariant* ragged_in(const Interface* content) {
    if (content == nullptr || typeid(*content) != typeid(Value)) return nullptr;
    return &static_cast<const Value*>(content)->value;
  }
};
template struct Reveal<Variant::ValueInterface, &Variant::GetValue, Variant::Value<RaggedTensorVariant>>;

// Whether nothing is there: TensorFlow's zero for any variant is the number 0, which the gradient of a slice has in the
// place of everything that was not selected.
inline bool is_missing(const Variant& variant) {
  if (variant.is_empty()) return true;
  const int* const number = variant.get<int>();
  return number != nullptr && *number == 0;
}

}  // namespace backslice_tensorflow
