/// @file
/// Ints: a borrowed list of int64, as arguments take it: from braces, a vector, a std::array, a C array, a span or a
/// Shape.
///
///     strided_slice_grad({4, 4}, spec, dy);
///
///     const std::array<std::int64_t, 2> shape = {4, 4};
///     strided_slice_grad(shape, spec, dy);
///
/// It owns nothing: use it for parameters, never for members or variables. A list in braces ends with the full
/// expression it stands in, so that `Ints shape = {4, 4};` would point to memory that is gone.
#pragma once

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <iosfwd>
#include <span>
#include <string>

#include "backslice/export.h"

namespace backslice {

class Ints : public std::span<const std::int64_t> {
 public:
  Ints() = default;
  Ints(std::initializer_list<std::int64_t> list BACKSLICE_LIFETIME_BOUND) : span(list.begin(), list.size()) {}
  Ints(const std::int64_t* data, std::size_t size) : span(data, size) {}

  /// From whatever holds int64 one after the other: std::vector, std::array, C arrays, spans, Shape, Dims.
  template <class List>
    requires std::convertible_to<const List&, std::span<const std::int64_t>>
  Ints(const List& list BACKSLICE_LIFETIME_BOUND) : span(list) {}
};

/// "[4,-1,0]"
BACKSLICE_EXPORT std::string to_string(Ints list);
BACKSLICE_EXPORT std::ostream& operator<<(std::ostream& stream, Ints list);

}  // namespace backslice
