// Divides a range into nearly equal parts.
#pragma once

#include <cstdint>

namespace backslice {

// Returns the beginning of part `part` of `parts`: total * part / parts, without computing the product.
inline std::int64_t cut_at(std::int64_t total, std::int64_t parts, std::int64_t part) {
  return total / parts * part + total % parts * part / parts;
}

}  // namespace backslice
