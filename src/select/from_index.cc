// NumPy basic indexing -> Selection.
#include "backslice/selection.h"
#include "core/errors.h"
#include "select/axis_math.h"
#include "select/result_axes.h"

namespace backslice {
namespace {

template <class Item>
bool holds(const IndexItem& item) {
  return std::holds_alternative<Item>(item);
}

Result<Selection::Axis> explicit_axis(const IndexItem& item, int axis, std::int64_t extent) {
  if (const auto* index = std::get_if<std::int64_t>(&item)) {
    const std::int64_t position = from_end(*index, extent);
    if (position < 0 || position >= extent) {
      return out_of_range("index ", *index, " is out of bounds for axis ", axis, " with size ", extent);
    }
    return Selection::Axis{position, 1, 1};
  }
  const auto& range = std::get<SliceRange>(item);
  const std::int64_t step = range.step.value_or(1);
  if (step == 0) return invalid_argument("slice step cannot be zero (axis ", axis, ")");
  return axis_from_range(range.start ? clamp_bound(*range.start, extent, step) : default_start(extent, step),
                         range.stop ? clamp_bound(*range.stop, extent, step) : default_stop(extent, step), step);
}

// How many axes the items name, or what is wrong with them as a list.
Result<int> count_named(const Index& index, int rank) {
  int named = 0, ellipses = 0;
  for (const IndexItem& item : index) {
    named += holds<std::int64_t>(item) || holds<SliceRange>(item);
    ellipses += holds<EllipsisItem>(item);
  }
  if (ellipses > 1) return out_of_range("an index can only have a single ellipsis ('...'), this one has ", ellipses);
  if (named > rank) {
    return out_of_range("too many indices: the shape has ", rank, " axes, but ", named, " were indexed");
  }
  return named;
}

}  // namespace

Result<Selection> Selection::from_index(Ints dims, const Index& index) {
  return without_throwing([&]() -> Result<Selection> {
    const auto shape = Shape::make(dims);
    if (!shape.ok()) return shape.status();
    const auto named = count_named(index, shape->rank());
    if (!named.ok()) return named.status();

    Axes axes;
    ResultAxes result_axes;
    int axis = 0;
    bool seen_ellipsis = false;
    const auto take_ellipsis = [&] {
      seen_ellipsis = true;
      for (int left = shape->rank() - *named; left > 0; --left) {
        axes.push_back({0, 1, (*shape)[axis]});
        result_axes.push_back(axis++);
      }
    };
    for (const IndexItem& item : index) {
      if (holds<EllipsisItem>(item)) {
        take_ellipsis();
      } else if (holds<NewAxis>(item)) {
        result_axes.push_back(kNewAxis);
      } else {
        const auto explicit_form = explicit_axis(item, axis, (*shape)[axis]);
        if (!explicit_form.ok()) return explicit_form.status();
        axes.push_back(*explicit_form);
        if (holds<SliceRange>(item)) result_axes.push_back(axis);
        ++axis;
      }
    }
    if (!seen_ellipsis) take_ellipsis();
    return assemble(*shape, axes, result_axes);
  });
}

}  // namespace backslice
