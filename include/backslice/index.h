/// @file
/// Index: NumPy basic indexing as a value: integers, slices, new axes and one ellipsis.
///
///     Result<Index> index = parse_index("1:3, ::2, ..., None, -1");
///     Index same = {SliceRange{1, 3}, SliceRange{{}, {}, 2}, EllipsisItem{}, NewAxis{}, -1};
///
/// Selection::from_index takes either, and the text itself.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "backslice/export.h"
#include "backslice/result.h"

namespace backslice {

/// start:stop:step; a missing part means what it means in Python.
struct SliceRange {
  std::optional<std::int64_t> start = {}, stop = {}, step = {};
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

using IndexItem = std::variant<std::int64_t, SliceRange, NewAxis, EllipsisItem>;
using Index = std::vector<IndexItem>;

/// Reads Python's notation: "1:3, ::2", or with a name, "x[1:3, ::2]". An integer past int64_t is read as the nearest
/// one that fits, which selects the same elements. Text that is not an index is InvalidArgument, and the message points
/// at the item, as the Status's span does. So is "[0, 2]": x[[0, 2]] is integer-array indexing, which is not a slice.
BACKSLICE_EXPORT Result<Index> parse_index(std::string_view index);

/// An index, and the part of the text that each item was read from.
struct IndexText {
  Index items;
  std::vector<TextSpan> spans;

  /// An error about item i of the index, with the span of the item; any other error as it is.
  BACKSLICE_EXPORT Status located(Status error) const;
};

/// The same, for who wants to say later where an item stands.
BACKSLICE_EXPORT Result<IndexText> parse_index_text(std::string_view index);

/// Writes Python's notation: "1:3, ::2, ..., None, -1".
BACKSLICE_EXPORT std::string to_string(const Index& index);

}  // namespace backslice
