#include "backslice/shape.h"

#include <ostream>

#include "core/checked_math.h"
#include "core/errors.h"

namespace backslice {

Status Shape::too_large(std::size_t axis, const char* argument) {
  return without_throwing([&] {
    return invalid_argument(argument, "[", axis, "] does not fit int64").at(argument, static_cast<std::int64_t>(axis));
  });
}

Status Shape::too_long(std::size_t size, const char* argument) {
  return without_throwing([&] {
    return invalid_argument(argument, " has ", counted(size, "axis", "axes"), "; at most ", kMaxRank, " are supported")
        .at(argument, kMaxRank);
  });
}

Result<Shape> Shape::make(Ints dims, const char* argument) {
  if (dims.size() > kMaxRank) return too_long(dims.size(), argument);
  return without_throwing([&]() -> Result<Shape> {
    Shape shape;
    for (std::size_t axis = 0; axis < dims.size(); ++axis) {
      if (dims[axis] < 0) {
        return invalid_argument(argument, "[", axis, "]: dimension ", dims[axis], " must be >= 0")
            .at(argument, static_cast<std::int64_t>(axis));
      }
      const auto elements = checked_multiply(shape.elements_, dims[axis]);
      if (!elements) {
        return invalid_argument(argument, " ", dims, " would have more than 2**63 - 1 elements (at axis ", axis, ")")
            .at(argument, static_cast<std::int64_t>(axis));
      }
      shape.elements_ = *elements;
      shape.dims_.push_back(dims[axis]);
    }
    return shape;
  });
}

std::ostream& operator<<(std::ostream& stream, const Shape& shape) { return stream << Ints(shape); }

}  // namespace backslice
