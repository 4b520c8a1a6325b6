#include "select/index_items.h"

#include "core/errors.h"
#include "select/axis_math.h"

namespace backslice {

Result<Selection::Axis> axis_of_slice(const SliceRange& range, int axis, std::int64_t extent) {
  const std::int64_t step = range.step.value_or(1);
  if (step == 0) return invalid_argument("slice step cannot be zero (axis ", axis, ")");
  return axis_from_range(range.start ? clamp_bound(*range.start, extent, step) : default_start(extent, step),
                         range.stop ? clamp_bound(*range.stop, extent, step) : default_stop(extent, step), step);
}

Result<Selection::Axis> axis_of_item(const IndexItem& item, int axis, std::int64_t extent) {
  if (const auto* range = std::get_if<SliceRange>(&item)) return axis_of_slice(*range, axis, extent);
  const std::int64_t index = std::get<std::int64_t>(item), position = from_end(index, extent);
  if (position < 0 || position >= extent) {
    return out_of_range("index ", index, " is out of bounds for axis ", axis, " with size ", extent);
  }
  return Selection::Axis{position, 1, 1};
}

Result<int> count_named_axes(const Index& index, int rank) {
  int named = 0, ellipses = 0;
  std::int64_t item_number = 0, second_ellipsis = 0, first_too_many = 0;
  for (const IndexItem& item : index) {
    const bool names_axis = std::holds_alternative<std::int64_t>(item) || std::holds_alternative<SliceRange>(item);
    named += names_axis;
    if (names_axis && named == rank + 1) first_too_many = item_number;
    ellipses += std::holds_alternative<EllipsisItem>(item);
    if (ellipses == 2 && second_ellipsis == 0) second_ellipsis = item_number;
    ++item_number;
  }
  if (ellipses > 1) {
    return out_of_range("an index can only have a single ellipsis ('...'), this one has ", ellipses)
        .at("index", second_ellipsis);
  }
  if (named > rank) {
    return out_of_range("too many indices: the shape has ", counted(rank, "axis", "axes"), ", but ", named,
                        " were indexed")
        .at("index", first_too_many);
  }
  return named;
}

Result<Index> with_every_axis(const Index& index, int rank) {
  const auto named = count_named_axes(index, rank);
  if (!named.ok()) return named.status();
  const auto left = static_cast<std::size_t>(rank - *named);
  Index items;
  items.reserve(index.size() + left);
  bool has_ellipsis = false;
  const auto take_rest = [&] {
    for (std::size_t i = 0; i < left; ++i) items.push_back(SliceRange{});
  };
  for (const IndexItem& item : index) {
    if (std::holds_alternative<EllipsisItem>(item)) {
      has_ellipsis = true;
      take_rest();
    } else {
      items.push_back(item);
    }
  }
  if (!has_ellipsis) take_rest();
  return items;
}

}  // namespace backslice
