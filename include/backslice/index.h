/// @file
/// Index: NumPy basic indexing as a value: integers, slices, new axes and one ellipsis.
///
///     Result<Index> index = parse_index("1:3, ::2, ..., None, -1");
///     Index same = {SliceRange{1, 3}, SliceRange{{}, {}, 2}, EllipsisItem{}, NewAxis{}, -1};
///     Index row = {n};                                         // x[n], where n may be of any integer type
///
/// Selection::from_index takes either, and the text itself.
#pragma once

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <iterator>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "backslice/export.h"
#include "backslice/ints.h"
#include "backslice/result.h"

namespace backslice {

namespace detail {

/// The integers of an index: of any type, except characters and bool, which NumPy reads as a mask.
template <class T>
concept IndexInteger = ConvertsToInt64<T> && (Integer<T> || !std::integral<T> || (sizeof(T) > 8)) &&
                       !std::same_as<T, std::vector<bool>::reference>;

}  // namespace detail

/// The start, stop or step of a slice: an integer of any type, or nothing. An integer that does not fit int64 becomes
/// the nearest one that does, which selects the same elements.
class IndexBound {
 public:
  constexpr IndexBound() = default;
  constexpr IndexBound(std::nullopt_t) {}
  template <std::same_as<std::optional<std::int64_t>> Bound>
  constexpr IndexBound(const Bound& bound) : bound_(bound) {}
  template <detail::IndexInteger T>
  constexpr IndexBound(T integer) : bound_(detail::nearest_int64(integer)) {}
  template <std::integral T>
    requires(!detail::IndexInteger<T>)
  IndexBound(T) = delete;  // neither bool nor characters

  constexpr operator std::optional<std::int64_t>() const { return bound_; }
  constexpr explicit operator bool() const { return bound_.has_value(); }
  constexpr bool has_value() const { return bound_.has_value(); }
  constexpr std::int64_t operator*() const { return *bound_; }  ///< Precondition: has_value().
  constexpr std::int64_t value_or(std::int64_t other) const { return bound_.value_or(other); }
  constexpr void reset() { bound_.reset(); }
  friend constexpr bool operator==(const IndexBound&, const IndexBound&) = default;
  friend constexpr bool operator==(const IndexBound& a, const std::optional<std::int64_t>& b) { return a.bound_ == b; }
  friend constexpr bool operator==(const IndexBound& a, std::nullopt_t) { return !a.bound_.has_value(); }
  template <detail::IndexInteger T>
  friend constexpr bool operator==(const IndexBound& a, T b) {
    return a == IndexBound(b);
  }

 private:
  std::optional<std::int64_t> bound_;
};

/// start:stop:step; missing parts have Python's meaning.
struct SliceRange {
  IndexBound start = {}, stop = {}, step = {};
  friend bool operator==(const SliceRange&, const SliceRange&) = default;
};

/// `None`: a new axis of extent 1.
struct NewAxis {
  friend bool operator==(const NewAxis&, const NewAxis&) = default;
};

/// `...`: all axes that the other items leave over.
struct EllipsisItem {
  friend bool operator==(const EllipsisItem&, const EllipsisItem&) = default;
};

/// One item of an index: an integer of any type, a SliceRange, a NewAxis or an EllipsisItem. An integer that does not
/// fit int64 becomes the nearest one that does, which lies outside every axis and is refused where the index is used.
class IndexItem : public std::variant<std::int64_t, SliceRange, NewAxis, EllipsisItem> {
 public:
  template <detail::IndexInteger T>
  constexpr IndexItem(T integer) : variant(detail::nearest_int64(integer)) {}
  template <std::integral T>
    requires(!detail::IndexInteger<T>)
  IndexItem(T) = delete;  // neither bool, which NumPy reads as a mask, nor characters
  constexpr IndexItem(const SliceRange& range) : variant(range) {}
  constexpr IndexItem(NewAxis axis) : variant(axis) {}
  constexpr IndexItem(EllipsisItem ellipsis) : variant(ellipsis) {}
};

/// A list of items. It is made of braces, of a std::vector<IndexItem> or of any other items by two iterators, and
/// cannot be made of a number of items: Index{n} is the one item n.
class Index {
 public:
  Index() = default;
  Index(std::initializer_list<IndexItem> items) : items_(items) {}
  template <detail::ConvertsToInt64 T>
  explicit Index(T) = delete;  // write Index{n} for the item n
  Index(std::vector<IndexItem> items) : items_(std::move(items)) {}
  template <std::input_iterator First, std::sentinel_for<First> Last>
    requires std::convertible_to<std::iter_reference_t<First>, IndexItem>
  Index(First first, Last last) {
    for (; first != last; ++first) items_.push_back(*first);
  }

  std::size_t size() const { return items_.size(); }
  bool empty() const { return items_.empty(); }
  const IndexItem& operator[](std::size_t i) const& BACKSLICE_LIFETIME_BOUND { return items_[i]; }
  IndexItem& operator[](std::size_t i) & BACKSLICE_LIFETIME_BOUND { return items_[i]; }
  IndexItem operator[](std::size_t i) const&& { return items_[i]; }
  const IndexItem& back() const& BACKSLICE_LIFETIME_BOUND { return items_.back(); }
  const IndexItem* begin() const& BACKSLICE_LIFETIME_BOUND { return items_.data(); }
  const IndexItem* end() const& BACKSLICE_LIFETIME_BOUND { return items_.data() + items_.size(); }
  const IndexItem* data() const& BACKSLICE_LIFETIME_BOUND { return items_.data(); }
  void begin() const&& = delete;  ///< Temporaries do not lend their items.
  void end() const&& = delete;
  void data() const&& = delete;
  void reserve(std::size_t size) { items_.reserve(size); }
  void push_back(const IndexItem& item) { items_.push_back(item); }
  void pop_back() { items_.pop_back(); }
  friend bool operator==(const Index&, const Index&) = default;

 private:
  std::vector<IndexItem> items_;
};

/// Reads Python's notation: "1:3, ::2", or with a name, "x[1:3, ::2]". An integer past int64_t is read as the nearest
/// one that fits, which selects the same elements. Text that is not an index is InvalidArgument, and the message points
/// at the item, as the Status's span does. So is "[0, 2]": x[[0, 2]] is integer-array indexing, which is not a slice.
BACKSLICE_EXPORT Result<Index> parse_index(std::string_view index);

/// An index, and the part of the text that each item was read from.
struct IndexText {
  Index items;
  std::vector<TextSpan> spans;

  /// Adds the span of item i to an error about it; returns other errors unchanged.
  BACKSLICE_EXPORT Status located(Status error) const;
};

/// The same for callers that need the positions of items later.
BACKSLICE_EXPORT Result<IndexText> parse_index_text(std::string_view index);

/// Writes Python's notation: "1:3, ::2, ..., None, -1".
BACKSLICE_EXPORT std::string to_string(const Index& index);

}  // namespace backslice
