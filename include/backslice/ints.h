// Ints: a borrowed list of int64, as arguments take it: from braces, a vector, an array, a span or a Shape.
//
//     strided_slice_grad({4, 4}, spec, dy);
//
// It does not own: use it for parameters, never for members.
#pragma once

#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <span>
#include <string>
#include <vector>

#include "backslice/export.h"

namespace backslice {

class Ints : public std::span<const std::int64_t> {
 public:
  Ints() = default;
  Ints(std::initializer_list<std::int64_t> list) : span(list.begin(), list.size()) {}
  Ints(const std::vector<std::int64_t>& list) : span(list) {}
  Ints(std::span<const std::int64_t> list) : span(list) {}
  Ints(const std::int64_t* data, std::size_t size) : span(data, size) {}
};

// "[4,-1,0]"
BACKSLICE_EXPORT std::string to_string(Ints list);

}  // namespace backslice
