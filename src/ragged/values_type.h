// The dtype of the values of a VariantArray.
#pragma once

#include <optional>

#include "backslice/ragged_variant.h"
#include "core/element_type.h"
#include "core/errors.h"

namespace backslice {

// Returns the first piece that is not missing, for its dtype. For a ragged tensor without rows, it is an empty piece of
// its dtype.
inline std::optional<VariantArray::Piece> first_piece(const VariantArray& encoded) {
  if (encoded.batch() != nullptr && encoded.size() == 0) {
    const ConstView view = encoded.batch()->values().view();
    return VariantArray::Piece{nullptr, 0, false, view.dtype, view.layout.item_size, view.device};
  }
  for (std::int64_t i = 0; i < encoded.size(); ++i) {
    if (const auto piece = encoded.piece(i); !piece.missing) return piece;
  }
  return std::nullopt;
}

// Returns the device of the values, or `otherwise` if there are none.
inline Device device_of(const VariantArray& encoded, Device otherwise) {
  const auto first = first_piece(encoded);
  return first ? first->device : otherwise;
}

// Returns the device of the caller's memory.
inline Device device_of(const Context& context) {
  return context.allocator != nullptr ? context.allocator->device() : Device();
}

// Returns the requested dtype, which is `argument`, or that of the pieces, with the size of its items.
inline Result<ValuesType> values_type(const VariantArray& encoded, const std::optional<ValuesType>& asked,
                                      const char* argument) {
  const auto first = first_piece(encoded);
  if (!asked && !first) {
    return invalid_argument(argument, " must be given: there is no element to take it from").at(argument);
  }
  if (!asked) return ValuesType{first->dtype, first->item_size};
  const bool needs_size = asked->dtype == DType::Bytes;
  const auto size = resolved_item_size(asked->dtype, needs_size ? asked->item_size : kItemSizeOfDType, argument,
                                       join(argument, ".item_size").c_str());
  if (!size.ok()) return size.status().at(argument);
  return ValuesType{asked->dtype, *size};
}

}  // namespace backslice
