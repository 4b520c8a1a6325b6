#include "core/element_type.h"

#include "core/errors.h"

namespace backslice {

Status check_element_type(DType dtype, const char* argument, const char* field) {
  if (is_element_type(dtype)) return Status();
  return dtype_error(argument, field, " is ", static_cast<int>(dtype),
                     ", which is not an element type; those are 0 to ", static_cast<int>(DType::StringView))
      .at(argument);
}

Result<std::int64_t> resolved_item_size(DType dtype, std::int64_t item_size, const char* dtype_argument,
                                        const char* argument) {
  BACKSLICE_RETURN_IF_ERROR(check_element_type(dtype, dtype_argument));
  if (dtype != DType::Bytes) {
    const std::int64_t own = backslice::item_size(dtype);
    if (item_size == 0 || item_size == own || item_size == kItemSizeOfDType) return own;
    return invalid_argument(argument, " ", item_size, " does not fit ", name(dtype), ", which takes ", own)
        .at(argument);
  }
  if (item_size >= 0) return item_size;
  if (item_size != kItemSizeOfDType) {
    return invalid_argument(argument, " ", item_size, " must be >= 0").at(argument);
  }
  return invalid_argument(argument, " is missing: elements of dtype bytes have no size of their own").at(argument);
}

}  // namespace backslice
