#include "ragged/ragged_selection.h"

#include <algorithm>

#include "core/errors.h"
#include "select/index_items.h"
#include "select/result_axes.h"

namespace backslice {
namespace {

bool is_new_axis(const IndexItem& item) { return std::holds_alternative<NewAxis>(item); }

bool takes_all(const SliceRange& range) {
  return range.start.value_or(0) == 0 && !range.stop && range.step.value_or(1) == 1;
}

Status at_item(Status error, std::size_t item) { return std::move(error).at("index", static_cast<std::int64_t>(item)); }

// An error about one of the `size` items that with_every_axis() made of an index: of the item of the index itself.
Status in_index(Status error, const Index& index, std::size_t size) {
  if (error.argument() != "index" || !error.position()) return error;
  const auto item = static_cast<std::size_t>(*error.position());
  const auto is_ellipsis = [](const IndexItem& i) { return std::holds_alternative<EllipsisItem>(i); };
  const auto ellipsis = static_cast<std::size_t>(std::find_if(index.begin(), index.end(), is_ellipsis) - index.begin());
  if (item < ellipsis) return error;
  return at_item(std::move(error), item + index.size() - size);
}

// Returns the Selection that the items from `first` on make of the values' rows and of the axes after them.
Result<Selection> selection_of_values(const RaggedTensor& rt, Range rows, const Index& items, std::size_t first) {
  const Shape& shape = rt.values().shape();
  Selection::Axes axes;
  ResultAxes result_axes;
  int axis = 0;
  for (std::size_t at = first; at < items.size(); ++at) {
    const IndexItem& item = items[at];
    if (is_new_axis(item)) {
      result_axes.push_back(Selection::kNewAxis);
      continue;
    }
    auto taken = axis_of_item(item, rt.ragged_rank() + axis, axis == 0 ? rows.hi - rows.lo : shape[axis]);
    if (!taken.ok()) return at_item(taken.status(), at);
    if (axis == 0) taken->start += rows.lo;
    axes.push_back(*taken);
    if (std::holds_alternative<SliceRange>(item)) result_axes.push_back(axis);
    ++axis;
  }
  auto made = Selection::make(shape, axes, result_axes);
  if (!made.ok()) return std::move(made).status().at("index");
  return made;
}

// Returns the row of a level that an integer selects.
Result<std::int64_t> row_at(std::int64_t index, int level, Range rows) {
  const std::int64_t count = rows.hi - rows.lo;
  const auto taken = axis_of_item(index, level, count);
  if (taken.ok()) return rows.lo + taken->start;
  if (level == 0) return out_of_range("row ", index, " is out of bounds for ", counted(count, "row", "rows"));
  return out_of_range("index ", index, " is out of bounds for axis ", level, ": the row has ",
                      counted(count, "item", "items"));
}

Status refuse_integer(const IndexItem& item, int axis) {
  return invalid_argument("index ", std::get<std::int64_t>(item), " is for axis ", axis,
                          ", which is ragged: some rows may have no such item. A ragged axis takes a slice, or an "
                          "integer where integers have taken one row on every axis before it");
}

// Refuses more levels than a result has room for, or than recursion could follow on the stack.
Status refuse_more_than(std::size_t most, std::size_t count, const char* what) {
  if (count <= most) return Status();
  return invalid_argument("the index ", what, " ", count, " ragged axes; at most ", most, " are supported").at("index");
}

}  // namespace

RaggedSelection::RaggedSelection(const RaggedTensor& rt, Selection values)
    : rt_(&rt),
      values_(std::move(values)),
      first_level_(rt.ragged_rank()),
      slices_(static_cast<std::size_t>(rt.ragged_rank())) {
  if (values_.shape().rank() > 0) rows_ = values_.axis(0);
}

Result<RaggedSelection> RaggedSelection::from_index(const RaggedTensor& rt, const Index& index) {
  auto items = with_every_axis(index, rt.ragged_rank() + rt.values().shape().rank());
  if (!items.ok()) return items.status();
  const std::size_t size = items->size();
  auto made = from_items(rt, *std::move(items));
  if (!made.ok()) return in_index(std::move(made).status(), index, size);
  return made;
}

Result<RaggedSelection> RaggedSelection::from_items(const RaggedTensor& rt, Index items) {
  const int rank = rt.ragged_rank();
  const Shape& shape = rt.values().shape();
  Range rows{0, rank > 0 ? rt.rows() : shape.rank() > 0 ? shape[0] : 0};
  std::size_t at = 0;
  int level = 0;
  for (; level < rank && !std::holds_alternative<SliceRange>(items[at]); ++at) {
    const auto* integer = std::get_if<std::int64_t>(&items[at]);
    if (integer == nullptr) continue;
    const auto row = row_at(*integer, level, rows);
    if (!row.ok()) return at_item(row.status(), at);
    rows = {rt.split(level, *row), rt.split(level, *row + 1)};
    ++level;
  }
  const int new_axes = static_cast<int>(at) - level;
  if (level < rank) return ragged(rt, items, {at, level, rows, new_axes});
  if (new_axes > 0) {
    return invalid_argument(
               "the index adds an axis before the integers that take one row of every ragged axis; "
               "put None after them")
        .at("index");
  }
  auto values = selection_of_values(rt, rows, items, at);
  if (!values.ok()) return values.status();
  return RaggedSelection(rt, *std::move(values));
}

Result<RaggedSelection> RaggedSelection::ragged(const RaggedTensor& rt, Index& items, const Start& start) {
  const auto rows = axis_of_slice(std::get<SliceRange>(items[start.at]), start.level, start.rows.hi - start.rows.lo);
  if (!rows.ok()) return at_item(rows.status(), start.at);
  std::vector<Level> levels(static_cast<std::size_t>(start.new_axes), {Level::Rows::OneWithAll, start.level});
  std::vector<std::optional<SliceRange>> slices(static_cast<std::size_t>(rt.ragged_rank()));
  std::size_t at = start.at + 1, new_axes = levels.size(), sliced = 0;
  for (int level = start.level; level < rt.ragged_rank(); ++level, ++at) {
    for (; is_new_axis(items[at]); ++at, ++new_axes) levels.push_back({Level::Rows::OneEach, level});
    const auto* slice = std::get_if<SliceRange>(&items[at]);
    if (slice == nullptr) return at_item(refuse_integer(items[at], level + 1), at);
    if (const auto possible = axis_of_slice(*slice, level + 1, 0); !possible.ok()) {
      return at_item(possible.status(), at);
    }
    levels.push_back({Level::Rows::Selected, level});
    if (takes_all(*slice)) continue;
    slices[static_cast<std::size_t>(level)] = *slice;
    ++sliced;
  }
  BACKSLICE_RETURN_IF_ERROR(refuse_more_than(kMaxRank, new_axes, "adds"));
  BACKSLICE_RETURN_IF_ERROR(refuse_more_than(kMaxRank, sliced, "slices"));
  // The slice of the innermost ragged axis selects among the values' rows, and differs per row.
  items[at - 1] = SliceRange{};
  const Range all{0, rt.values().shape()[0]};
  auto values = selection_of_values(rt, all, items, at - 1);
  if (!values.ok()) return values.status();
  RaggedSelection selection(rt, *std::move(values));
  selection.first_level_ = start.level;
  selection.rows_ = {start.rows.lo + rows->start, rows->step, rows->count};
  selection.slices_ = std::move(slices);
  selection.levels_ = std::move(levels);
  return selection;
}

Result<RaggedSelection> RaggedSelection::from_rows(const RaggedTensor& rt, const Selection& rows) {
  if (rt.values().shape().rank() == 0) return invalid_argument("rt is a scalar, which has no rows to slice").at("rt");
  const int result_rank = rows.result_shape().rank();
  if (rows.shape().rank() == 1 && rows.shape()[0] == rt.rows() && result_rank == (rows.is_dropped(0) ? 0 : 1)) {
    return from_index(rt, rows.to_index());
  }
  return invalid_argument("rows must be a row or a range of the ", counted(rt.rows(), "row", "rows"),
                          ", got a slice of shape ", Ints(rows.shape()), " with a result of rank ", result_rank)
      .at("rows");
}

Selection RaggedSelection::of_values(const Shape& shape, const Rows& rows) const {
  Selection::Axes axes;
  for (int axis = 0; axis < shape.rank(); ++axis) axes.push_back(axis == 0 ? rows : values_.axis(axis));
  return *Selection::make(shape, axes, values_.result_axes());
}

bool RaggedSelection::selects_whole_values() const {
  for (int axis = 1; axis < values_.shape().rank(); ++axis) {
    if (!values_.is_whole(axis)) return false;
  }
  return true;
}

RaggedSelection::Rows RaggedSelection::sliced(int level, const Rows& items) const {
  Rows taken =
      *axis_of_slice(*slices_[static_cast<std::size_t>(level)], level + 1, items.count);  // its step is already checked
  taken.start += items.start;
  return taken;
}

}  // namespace backslice
