#include "backslice/partial_shape.h"

#include <ostream>

#include "core/errors.h"

namespace backslice {

Result<PartialShape> PartialShape::make(Ints dims, const char* argument) {
  return without_throwing([&]() -> Result<PartialShape> {
    if (dims.size() > kMaxRank) {
      return invalid_argument(argument, " has ", counted(dims.size(), "axis", "axes"), "; at most ", kMaxRank,
                              " are supported")
          .at(argument);
    }
    for (std::size_t axis = 0; axis < dims.size(); ++axis) {
      if (dims[axis] < kUnknown) {
        return invalid_argument(argument, "[", axis, "]: dimension ", dims[axis], " must be >= -1 (-1 for unknown)")
            .at(argument, static_cast<std::int64_t>(axis));
      }
    }
    PartialShape shape;
    shape.dims_ = Dims(dims);
    return shape;
  });
}

std::optional<Shape> PartialShape::full() const {
  if (!dims_) return std::nullopt;
  for (std::int64_t dim : *dims_) {
    if (dim == kUnknown) return std::nullopt;
  }
  auto shape = Shape::make(*dims_);
  return shape.ok() ? std::optional(*shape) : std::nullopt;
}

bool PartialShape::is_compatible_with(const PartialShape& other) const {
  if (!dims_ || !other.dims_) return true;
  if (dims_->size() != other.dims_->size()) return false;
  for (int axis = 0; axis < dims_->size(); ++axis) {
    const std::int64_t a = (*dims_)[axis], b = (*other.dims_)[axis];
    if (a != kUnknown && b != kUnknown && a != b) return false;
  }
  return true;
}

PartialShape PartialShape::merged_with(const PartialShape& other) const {
  if (!dims_) return other;
  PartialShape merged = *this;
  for (int axis = 0; other.dims_ && axis < dims_->size(); ++axis) {
    if ((*dims_)[axis] == kUnknown) (*merged.dims_)[axis] = (*other.dims_)[axis];
  }
  return merged;
}

Result<PartialShape> PartialShape::prepended(const Shape& first, const char* argument) const {
  return without_throwing([&]() -> Result<PartialShape> {
    if (!dims_) return *this;
    if (first.rank() + dims_->size() > kMaxRank) {
      return invalid_argument(argument, " ", Ints(first), " and the shape ", to_string(), " after it have ",
                              first.rank() + dims_->size(), " axes; at most ", kMaxRank, " are supported")
          .at(argument);
    }
    PartialShape shape;
    shape.dims_.emplace(Ints(first));
    for (std::int64_t dim : *dims_) shape.dims_->push_back(dim);
    return shape;
  });
}

std::string PartialShape::to_string() const {
  if (!dims_) return "<unknown>";
  std::string text = "[";
  for (int axis = 0; axis < dims_->size(); ++axis) {
    if (axis > 0) text += ",";
    text += (*dims_)[axis] == kUnknown ? "?" : std::to_string((*dims_)[axis]);
  }
  return text + "]";
}

std::ostream& operator<<(std::ostream& stream, const PartialShape& shape) { return stream << shape.to_string(); }

}  // namespace backslice
