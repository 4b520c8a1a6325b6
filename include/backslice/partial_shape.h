/// @file
/// PartialShape: what is known of a shape. Nothing, its rank and some of its extents, or all of it.
#pragma once

#include <iosfwd>
#include <optional>
#include <string>

#include "backslice/shape.h"

namespace backslice {

/// A shape of which some or all may be unknown.
class BACKSLICE_EXPORT PartialShape {
 public:
  static constexpr std::int64_t kUnknown = -1;

  PartialShape() = default;                                                ///< Nothing is known.
  PartialShape(const Shape& shape) : dims_(std::in_place, Ints(shape)) {}  ///< All is known.

  /// Makes a shape of extents, -1 for unknown ones. `argument` names the list in the error message, as in Shape::make.
  static Result<PartialShape> make(Ints shape, const char* argument = "shape");

  bool has_rank() const { return dims_.has_value(); }
  Ints dims() const& BACKSLICE_LIFETIME_BOUND { return *dims_; }  ///< Precondition: has_rank().
  Dims dims() const&& { return *dims_; }

  /// The shape, if all of it is known and it has at most 2^63 - 1 elements.
  std::optional<Shape> full() const;

  bool is_compatible_with(const PartialShape& other) const;

  /// Returns the combined knowledge of both. Precondition: they are compatible.
  PartialShape merged_with(const PartialShape& other) const;

  /// Returns this shape with extents before it; an unknown rank stays unknown.
  Result<PartialShape> prepended(const Shape& first, const char* argument = "first") const;

  std::string to_string() const;  ///< "[2,?]", "<unknown>".

 private:
  std::optional<Dims> dims_;
};

/// What to_string() says.
BACKSLICE_EXPORT std::ostream& operator<<(std::ostream& stream, const PartialShape& shape);

}  // namespace backslice
