#include "backslice/shape.h"

#include <ostream>

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

bool detail::set_shape(Shape& shape, Ints dims) noexcept {
  if (dims.size() > kMaxRank) return false;
  shape.dims_.resize_down(0);
  shape.elements_ = 1;
  for (const std::int64_t extent : dims) {
    if (extent < 0 || __builtin_mul_overflow(shape.elements_, extent, &shape.elements_)) return false;
    shape.dims_.push_back(extent);
  }
  return true;
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

// Every call makes shapes. Only an error needs memory, and so only the error path has a boundary.
Result<Shape> Shape::make(Ints dims, const char* argument) {
  Result<Shape> made{Shape()};
  if (!detail::set_shape(*made, dims)) {
    made = dims.size() > kMaxRank ? too_many_axes(dims.size(), argument) : refusal(dims, argument, made->size());
  }
  return made;
}

std::ostream& operator<<(std::ostream& stream, const Shape& shape) { return stream << Ints(shape); }

}  // namespace backslice
