/// @file
/// Shape: the extents of a tensor, known to be valid.
///
/// A Shape has at most kMaxRank axes, none negative, and its number of elements fits int64_t. Whoever holds a Shape
/// need not check again. As in TensorFlow the product is taken from the left, so that [0, 2^40, 2^40] is a shape
/// and [2^40, 2^40, 0] is not.
#pragma once

#include <cstdint>
#include <iosfwd>
#include <utility>

#include "backslice/inline_vector.h"
#include "backslice/ints.h"
#include "backslice/result.h"

namespace backslice {

class Shape;
namespace detail {
// Shape::make in place: a copy of lists that were just made costs as much as making them. Where it is false, the shape
// is unspecified, and Shape::make has the error.
bool set_shape(Shape& shape, Ints dims) noexcept;
}  // namespace detail

/// A list of at most kMaxRank int64: extents or strides.
class Dims : public InlineVector<std::int64_t> {
 public:
  Dims() {}  // not defaulted: Dims{} would zero all that fits
  explicit Dims(Ints list) : InlineVector(std::span(list.begin(), list.size())) {}

  /// Makes Dims from a list of other integers, such as the strides in a std::vector<int> or std::vector<std::size_t>. A
  /// number that does not fit int64, or more than kMaxRank numbers, are InvalidArgument. `argument` names the list in
  /// the message.
  template <detail::OtherIntegers List>
  static Result<Dims> make(const List& list, const char* argument = "strides");

 private:
  BACKSLICE_EXPORT static Status too_large(std::size_t entry, const char* argument);
  BACKSLICE_EXPORT static Status too_long(std::size_t size, const char* argument);
  friend class Shape;
};

template <detail::OtherIntegers List>
Result<Dims> Dims::make(const List& list, const char* argument) {
  Result<Dims> made{Dims()};
  std::size_t size = 0;
  for (const auto entry : list) {
    if (entry > 0 && static_cast<std::int64_t>(entry) < 0) return too_large(size, argument);
    if (size++ < kMaxRank) made->push_back(static_cast<std::int64_t>(entry));
  }
  if (size > kMaxRank) return too_long(size, argument);
  return made;
}

/// The extents of a tensor.
class BACKSLICE_EXPORT Shape {
 public:
  Shape() {}  ///< Of rank 0: a scalar.

  /// `argument` names the list in the error message.
  static Result<Shape> make(Ints shape, const char* argument = "shape");

  /// The same from a list of other integers, such as std::vector<int> or std::vector<std::size_t>. A number that does
  /// not fit int64 is InvalidArgument.
  template <detail::OtherIntegers List>
  static Result<Shape> make(const List& list, const char* argument = "shape") {
    Result<Dims> dims = Dims::make(list, argument);
    return dims ? make(*dims, argument) : std::move(dims).status();  // which needs no memory
  }

  int rank() const { return dims_.size(); }
  std::int64_t operator[](int axis) const { return dims_[axis]; }
  std::int64_t elements() const { return elements_; }
  const std::int64_t* begin() const& BACKSLICE_LIFETIME_BOUND { return dims_.begin(); }
  const std::int64_t* end() const& BACKSLICE_LIFETIME_BOUND { return dims_.end(); }
  /// The extents as a list, for std::span.
  const std::int64_t* data() const& BACKSLICE_LIFETIME_BOUND { return dims_.begin(); }
  void begin() const&& = delete;
  void end() const&& = delete;
  void data() const&& = delete;
  std::size_t size() const { return static_cast<std::size_t>(dims_.size()); }  ///< Of that list: the rank.
  friend bool operator==(const Shape& a, const Shape& b) { return a.dims_ == b.dims_; }

 private:
  friend bool detail::set_shape(Shape& shape, Ints dims) noexcept;

  Dims dims_;
  std::int64_t elements_ = 1;
};

/// "[4,5]"
BACKSLICE_EXPORT std::ostream& operator<<(std::ostream& stream, const Shape& shape);

}  // namespace backslice
