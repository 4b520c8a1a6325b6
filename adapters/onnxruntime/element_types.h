// ONNX's element types, by their numbers, and ours.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

#include "backslice/dtype.h"

namespace backslice::onnxruntime {

/// In a schema: any type.
inline constexpr int kAnyType = 0;
inline constexpr int kInt32 = 6, kInt64 = 7;

/// An ONNX type: our name for it, and the number of elements that ONNX Runtime packs into a byte.
struct ElementType {
  DType dtype;
  int per_byte = 1;

  /// Whether ONNX Runtime stores the elements as we do.
  bool is_plain() const { return dtype != DType::StringView && per_byte == 1; }
  friend bool operator==(const ElementType&, const ElementType&) = default;
};

/// Returns nullopt for a number that this version does not know. Strings are DType::StringView.
std::optional<ElementType> element_type(int number);

/// Returns its name for messages.
std::string_view name_of(ElementType type);

/// Unpacks elements, the first in the lowest bits, to one per byte; signed ones are sign-extended. And packs them.
void unpack(const std::byte* packed, std::int64_t count, ElementType type, std::byte* elements);
void pack(const std::byte* elements, std::int64_t count, ElementType type, std::byte* packed);

/// Returns the bytes of `count` packed elements.
inline std::int64_t packed_size(std::int64_t count, ElementType type) {
  return (count + type.per_byte - 1) / type.per_byte;
}

}  // namespace backslice::onnxruntime
