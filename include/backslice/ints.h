/// @file
/// Ints: a borrowed list of int64, as arguments take it: from braces, a vector, a std::array, a C array, a span or a
/// Shape.
///
///     strided_slice_grad({4, 4}, spec, dy);
///     View::of(memory, {rows, 4});                         // rows may be a std::size_t
///
///     const std::array<std::int64_t, 2> shape = {4, 4};
///     strided_slice_grad(shape, spec, dy);
///
/// It owns nothing: use it for parameters, never for members or variables. A list in braces ends with the full
/// expression it stands in, so that `Ints shape = {4, 4};` would point to memory that is gone.
///
/// Braces take any integers. One above 2^63 - 1 counts as 2^63 - 1, which no shape of real memory has and where slices
/// end anyway. A std::vector<int> or std::vector<std::size_t> cannot be borrowed: Shape::make(list) converts a shape,
/// Dims::make(list) strides.
#pragma once

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <iosfwd>
#include <iterator>
#include <limits>
#include <span>
#include <string>
#include <type_traits>

#include "backslice/export.h"

namespace backslice {

namespace detail {

/// Integers, of which `long` and `long long` are two types of one size. Characters are text, not numbers.
template <class T>
concept Integer =
    std::integral<T> && !std::same_as<T, bool> && !std::same_as<T, char> && !std::same_as<T, wchar_t> &&
    !std::same_as<T, char8_t> && !std::same_as<T, char16_t> && !std::same_as<T, char32_t> && sizeof(T) <= 8;

/// Types that convert to int64 without losing a fraction: integers of any type, enumerators, integral constants.
template <class T>
concept ConvertsToInt64 = std::convertible_to<T, std::int64_t> && !requires(T number) {
  { +number } -> std::floating_point;
};

/// The same integer, or the nearest one that fits int64.
template <ConvertsToInt64 T>
constexpr std::int64_t nearest_int64(T integer) {
  using Limits = std::numeric_limits<std::int64_t>;
  constexpr bool kFits = sizeof(T) < sizeof(std::int64_t) || std::same_as<T, long> || std::same_as<T, long long>;
  if constexpr ((std::is_class_v<T> || std::is_enum_v<T>) && requires { +integer; }) {
    return nearest_int64(+integer);  // of the integer's own type
  } else if constexpr (!std::is_class_v<T> && !kFits) {
    if (integer > static_cast<T>(Limits::max())) return Limits::max();
    constexpr bool kSigned = static_cast<T>(-1) < static_cast<T>(0);  // of 128 bits, std::is_signed need not know
    if (kSigned && integer < static_cast<T>(Limits::min())) return Limits::min();
  }
  return static_cast<std::int64_t>(integer);
}

/// An integer of any type, as braces take it.
class AnyInteger {
 public:
  template <ConvertsToInt64 T>
  constexpr AnyInteger(T integer) : value_(nearest_int64(integer)) {}

 private:
  [[maybe_unused]] std::int64_t value_;  // read through the address of a list of these
};
static_assert(sizeof(AnyInteger) == sizeof(std::int64_t));

/// A list that can be borrowed.
template <class List>
concept ListOfInt64 = std::convertible_to<const List&, std::span<const std::int64_t>>;

/// A list of integers that are not int64, so that it must be converted.
template <class List>
concept OtherIntegers = requires(const List& list) {
  requires Integer<std::remove_cvref_t<decltype(*std::begin(list))>>;
  std::end(list);
} && !ListOfInt64<List>;

}  // namespace detail

class Ints : public std::span<const std::int64_t> {
 public:
  Ints() = default;
  Ints(std::initializer_list<detail::AnyInteger> list BACKSLICE_LIFETIME_BOUND)
      : span(reinterpret_cast<const std::int64_t*>(list.begin()), list.size()) {}
  Ints(const std::int64_t* data, std::size_t size) : span(data, size) {}

  /// From any contiguous int64: std::vector, std::array, C arrays, spans, Shape, Dims.
  template <detail::ListOfInt64 List>
  Ints(const List& list BACKSLICE_LIFETIME_BOUND) : span(list) {}
  template <detail::ListOfInt64 List>
    requires std::ranges::enable_borrowed_range<List>  // a span may go before the memory that it refers to
  Ints(const List& list) : span(list) {}

  /// Not from other integers, which would need memory: Shape::make(list) and Dims::make(list) convert them, and check
  /// that they fit.
  template <detail::OtherIntegers List>
  Ints(const List& list) = delete;  // convert it first, by Shape::make(list) or Dims::make(list)
};

/// "[4,-1,0]"
BACKSLICE_EXPORT std::string to_string(Ints list);
BACKSLICE_EXPORT std::ostream& operator<<(std::ostream& stream, Ints list);

}  // namespace backslice

template <>
inline constexpr bool std::ranges::enable_borrowed_range<backslice::Ints> = true;
