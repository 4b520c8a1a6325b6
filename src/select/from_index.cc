// NumPy basic indexing -> Selection.
#include "backslice/selection.h"
#include "core/boundary.h"
#include "select/index_items.h"
#include "select/result_axes.h"

namespace backslice {
namespace {

template <class Item>
bool holds(const IndexItem& item) {
  return std::holds_alternative<Item>(item);
}

}  // namespace

Result<Selection> Selection::from_index(Ints dims, const Index& index) {
  return without_throwing([&]() -> Result<Selection> {
    const auto shape = Shape::make(dims);
    if (!shape.ok()) return shape.status();
    const auto named = count_named_axes(index, shape->rank());
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
    for (std::size_t i = 0; i < index.size(); ++i) {
      const IndexItem& item = index[i];
      if (holds<EllipsisItem>(item)) {
        take_ellipsis();
      } else if (holds<NewAxis>(item)) {
        result_axes.push_back(kNewAxis);
      } else {
        const auto explicit_form = axis_of_item(item, axis, (*shape)[axis]);
        if (!explicit_form.ok()) return explicit_form.status().at("index", static_cast<std::int64_t>(i));
        axes.push_back(*explicit_form);
        if (holds<SliceRange>(item)) result_axes.push_back(axis);
        ++axis;
      }
    }
    if (!seen_ellipsis) take_ellipsis();
    return assemble(*shape, axes, result_axes, "index");
  });
}

Result<Selection> Selection::from_index_text(Ints shape, const IndexText& index) {
  return from_index(shape, index.items).or_else([&](Status error) -> Result<Selection> {
    return index.located(std::move(error));
  });
}

}  // namespace backslice
