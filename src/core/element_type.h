// Checks of what callers say about elements: the dtype and the size of an item.
#pragma once

#include <cstdint>

#include "backslice/dtype.h"
#include "backslice/result.h"

namespace backslice {

// Refuses a number that is not one of the enumeration, which a caller may have cast. `field` says where it stands in
// the argument: ".dtype" of a view.
Status check_element_type(DType dtype, const char* argument, const char* field = "");

// Returns the bytes per element. For DType::Bytes it must be given: kItemSizeOfDType is refused; for any other dtype it
// may be left out, be 0, or be right.
Result<std::int64_t> resolved_item_size(DType dtype, std::int64_t item_size, const char* dtype_argument = "dtype",
                                        const char* argument = "item_size");

}  // namespace backslice
