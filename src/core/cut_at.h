// Where a share begins.
#pragma once

#include <cstdint>

namespace backslice {

// Where part `part` of `parts` begins: total * part / parts, without the product.
inline std::int64_t cut_at(std::int64_t total, std::int64_t parts, std::int64_t part) {
  return total / parts * part + total % parts * part / parts;
}

}  // namespace backslice
