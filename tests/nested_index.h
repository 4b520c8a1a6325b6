// Indices of nested lists, one axis at a time: the model that slices of ragged tensors are compared with.
#pragma once

#include <algorithm>
#include <optional>
#include <span>
#include <vector>

#include "backslice/ragged_tensor.h"

namespace backslice::testing {

// A list; without axes left, the position of a value.
struct NestedList {
  std::vector<NestedList> items;
  std::int64_t value = 0;
  friend bool operator==(const NestedList&, const NestedList&) = default;
};

// The positions that Python's slices take, by their definition. Precondition: the step is not zero.
inline std::vector<std::int64_t> positions(const SliceRange& slice, std::int64_t n) {
  const std::int64_t step = slice.step.value_or(1);
  const auto bound = [&](std::int64_t at) {
    if (at < 0) at += n;
    return step > 0 ? std::clamp<std::int64_t>(at, 0, n) : std::clamp<std::int64_t>(at, -1, n - 1);
  };
  const std::int64_t start = slice.start ? bound(*slice.start) : step > 0 ? 0 : n - 1;
  const std::int64_t stop = slice.stop ? bound(*slice.stop) : step > 0 ? n : -1;
  std::vector<std::int64_t> taken;
  for (std::int64_t i = start; step > 0 ? i < stop : i > stop;) {
    taken.push_back(i);
    if (__builtin_add_overflow(i, step, &i)) break;
  }
  return taken;
}

// Nothing for an integer that is out of bounds.
inline std::optional<NestedList> indexed(const NestedList& list, std::span<const IndexItem> index) {
  if (index.empty()) return list;
  const auto rest = index.subspan(1);
  const auto count = static_cast<std::int64_t>(list.items.size());
  NestedList taken;
  const auto take = [&](const NestedList& item) {
    auto inside = indexed(item, rest);
    if (inside) taken.items.push_back(*std::move(inside));
    return inside.has_value();
  };
  if (std::holds_alternative<NewAxis>(index[0])) return take(list) ? std::optional(taken) : std::nullopt;
  if (const auto* i = std::get_if<std::int64_t>(&index[0])) {
    const std::int64_t at = *i < 0 ? *i + count : *i;
    if (at < 0 || at >= count) return std::nullopt;
    return indexed(list.items[static_cast<std::size_t>(at)], rest);
  }
  for (const std::int64_t i : positions(std::get<SliceRange>(index[0]), count)) {
    if (!take(list.items[static_cast<std::size_t>(i)])) return std::nullopt;
  }
  return taken;
}

// The positions in order. `axes` distinguishes an empty list from a value.
inline void flatten(const NestedList& list, int axes, std::vector<std::int64_t>& values) {
  if (axes == 0) return values.push_back(list.value);
  for (const NestedList& item : list.items) flatten(item, axes - 1, values);
}

inline NestedList nested_values(Ints shape, std::span<const std::int64_t>& left) {
  NestedList list;
  if (shape.empty()) {
    list.value = left[0];
    left = left.subspan(1);
    return list;
  }
  for (std::int64_t i = 0; i < shape[0]; ++i) list.items.push_back(nested_values(shape.subspan(1), left));
  return list;
}

// The rows of a ragged tensor, with these numbers in the place of its values.
inline NestedList nested_list(const RaggedTensor& rt, std::span<const std::int64_t> values) {
  NestedList all = nested_values(Ints(rt.values().shape()), values);
  for (int level = rt.ragged_rank() - 1; level >= 0; --level) {
    NestedList rows;
    for (std::int64_t i = 0; i + 1 < rt.nested_row_splits()[static_cast<std::size_t>(level)].shape()[0]; ++i) {
      rows.items.push_back({{all.items.begin() + rt.split(level, i), all.items.begin() + rt.split(level, i + 1)}});
    }
    all = std::move(rows);
  }
  return all;
}

// Returns whether TensorFlow accepts the index: after a slice, ragged axes may only be sliced; a new axis before the
// integers needs a ragged axis after them. Precondition: no step is zero.
inline bool is_allowed(const Index& index, int ragged_rank) {
  int axis = 0;
  bool sliced = false, is_new_first = false, allowed = true;
  for (const IndexItem& item : index) {
    const auto* slice = std::get_if<SliceRange>(&item);
    allowed &= slice == nullptr || slice->step != 0;
    const bool in_ragged_axes = axis < ragged_rank || (axis == ragged_rank && sliced);
    if (std::holds_alternative<NewAxis>(item)) {
      is_new_first |= in_ragged_axes && !sliced;
      continue;
    }
    if (in_ragged_axes) {
      allowed &= slice != nullptr || !sliced;
      sliced |= slice != nullptr;
    }
    ++axis;
  }
  sliced |= axis < ragged_rank;  // axes without an item are selected whole
  return allowed && (sliced || !is_new_first);
}

// How many axes an index leaves of so many.
inline int axes_left(const Index& index, int axes) {
  for (const IndexItem& item : index) {
    axes += std::holds_alternative<NewAxis>(item) - std::holds_alternative<std::int64_t>(item);
  }
  return axes;
}

}  // namespace backslice::testing
