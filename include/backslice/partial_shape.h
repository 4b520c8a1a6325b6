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

  /// Extents, -1 for those that are not known. `argument` names the list in the error message, as in Shape::make.
  static Result<PartialShape> make(Ints shape, const char* argument = "shape");

  bool has_rank() const { return dims_.has_value(); }
  Ints dims() const& BACKSLICE_LIFETIME_BOUND { return *dims_; }  ///< Precondition: has_rank().
  Dims dims() const&& { return *dims_; }

  /// The shape, if all of it is known and it has at most 2^63 - 1 elements.
  std::optional<Shape> full() const;

  bool is_compatible_with(const PartialShape& other) const;

  /// What is known when both are true; precondition: they are compatible.
  PartialShape merged_with(const PartialShape& other) const;

  /// This shape with extents before it; where the rank is not known it stays so.
  Result<PartialShape> prepended(const Shape& first, const char* argument = "first") const;

  std::string to_string() const;  ///< "[2,?]", "<unknown>".

 private:
  std::optional<Dims> dims_;
};

/// What to_string() says.
BACKSLICE_EXPORT std::ostream& operator<<(std::ostream& stream, const PartialShape& shape);

}  // namespace backslice
