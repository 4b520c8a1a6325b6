// Ragged tensors in variants, found quickly: TensorFlow hashes the names of types each time that one is asked for,
// which takes longer than everything else that is done with a short row.
#pragma once

#include <atomic>

#include "tensorflow/core/framework/variant.h"
#include "tensorflow/core/kernels/ragged_tensor_variant.h"

namespace backslice_tensorflow {

using tensorflow::RaggedTensorVariant;
using tensorflow::Variant;

// What a variant holds, behind an interface that is private: see Reveal in tensor_array_state.h.
const auto* content_of(const Variant& variant);

template <auto GetValue>
struct RevealContent {
  friend const auto* content_of(const Variant& variant) { return (variant.*GetValue)(); }
};
template struct RevealContent<static_cast<const Variant::ValueInterface* (Variant::*)() const>(&Variant::GetValue)>;

// Where it is.
inline const void* place_of(const Variant& variant) { return content_of(variant); }

// Whether nothing is there: TensorFlow's zero for any variant is the number 0, which the gradient of a slice has in the
// place of everything that was not selected.
inline bool is_missing(const Variant& variant) {
  if (variant.is_empty()) return true;
  const int* const number = variant.get<int>();
  return number != nullptr && *number == 0;
}

// Values of one class share their table of virtual functions, and lie at the same distance from it. A second table for
// the same class, of another library, is looked up by name again, and remembered instead.
class RaggedVariants {
 public:
  // Null where it holds something else, or nothing.
  const RaggedTensorVariant* find(const Variant& variant) const {
    const auto* const content = content_of(variant);
    if (content == nullptr) return nullptr;
    const void* const table = *reinterpret_cast<const void* const*>(content);
    if (table == known_.load(std::memory_order_relaxed)) return behind(content);
    return find_by_name(variant, content, table);
  }

 private:
  static constexpr std::size_t kDistance = sizeof(void*);

  static const RaggedTensorVariant* behind(const void* content) {
    return reinterpret_cast<const RaggedTensorVariant*>(static_cast<const char*>(content) + kDistance);
  }

  const RaggedTensorVariant* find_by_name(const Variant& variant, const void* content, const void* table) const {
    const auto* found = variant.get<RaggedTensorVariant>();
    if (found != nullptr && found == behind(content)) known_.store(table, std::memory_order_relaxed);
    return found;
  }

  mutable std::atomic<const void*> known_{nullptr};
};

}  // namespace backslice_tensorflow
