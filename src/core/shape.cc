#include "backslice/shape.h"

#include <ostream>

#include "core/checked_math.h"
#include "core/errors.h"

namespace backslice {

Status Dims::too_large(std::size_t entry, const char* argument) {
  return without_throwing([&] {
    return invalid_argument(argument, "[", entry, "] does not fit int64")
        .at(argument, static_cast<std::int64_t>(entry));
  });
}

Status Dims::too_long(std::size_t size, const char* argument) {
  return without_throwing([&] {
    return invalid_argument(argument, " has ", counted(size, "entry", "entries"), "; at most ", kMaxRank,
                            " are supported")
        .at(argument, kMaxRank);
  });
}

namespace {

Status too_many_axes(std::size_t rank, const char* argument) {
  return without_throwing([&] {
    return invalid_argument(argument, " has ", counted(rank, "axis", "axes"), "; at most ", kMaxRank, " are supported")
        .at(argument, kMaxRank);
  });
}

Status refusal(Ints dims, const char* argument, std::size_t axis) {
  return without_throwing([&] {
    const auto at = static_cast<std::int64_t>(axis);
    if (dims[axis] < 0) {
      return invalid_argument(argument, "[", axis, "]: dimension ", dims[axis], " must be >= 0").at(argument, at);
    }
    return invalid_argument(argument, " ", dims, " would have more than 2**63 - 1 elements (at axis ", axis, ")")
        .at(argument, at);
  });
}

}  // namespace

// Every call makes shapes. Only an error needs memory, and so a boundary.
Result<Shape> Shape::make(Ints dims, const char* argument) {
  if (dims.size() > kMaxRank) return too_many_axes(dims.size(), argument);
  Result<Shape> made{Shape()};
  Shape& shape = *made;
  for (std::size_t axis = 0; axis < dims.size(); ++axis) {
    const auto elements = checked_multiply(shape.elements_, dims[axis]);
    if (dims[axis] < 0 || !elements) return refusal(dims, argument, axis);
    shape.elements_ = *elements;
    shape.dims_.push_back(dims[axis]);
  }
  return made;
}

std::ostream& operator<<(std::ostream& stream, const Shape& shape) { return stream << Ints(shape); }

}  // namespace backslice
