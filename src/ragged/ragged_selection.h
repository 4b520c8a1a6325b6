// RaggedSelection: the elements that an index selects from a ragged tensor.
//
// A slice of a ragged axis selects different items in every row, so it cannot be one Selection::Axis. Its meaning is a
// map. The selected rows of one level, start, start + step, ..., become such runs of the level below, one per row.
// Adjacent rows that are selected whole stay one run, so nothing is stored or done per row unless rows differ.
//
//     [[1, 2], [], [3, 4, 5]], rt[::2, ::-1]:   rows 0, 2 of level 0;   values 1, 0 and then 4, 3, 2
//
// Below the ragged axes all rows are alike: there it is a Selection of the values.
#pragma once

#include <optional>
#include <vector>

#include "backslice/ragged_slice.h"
#include "ops/call.h"

namespace backslice {

class RaggedSelection {
 public:
  using Rows = Selection::Axis;  // of one level

  // One list of splits of the result.
  struct Level {
    enum class Rows { Selected, OneWithAll, OneEach };  // rows of a level of the tensor, or of a new axis
    Rows rows;
    int source = 0;  // the level of the tensor; for a new axis, the level whose rows it holds
  };

  // Reads an index as TensorFlow does. rt must outlive the result, here and in from_rows.
  static Result<RaggedSelection> from_index(const RaggedTensor& rt, const Index& index);

  // Selects a row, or a range of rows.
  static Result<RaggedSelection> from_rows(const RaggedTensor& rt, const Selection& rows);

  const RaggedTensor& tensor() const { return *rt_; }

  // Returns the Selection of these rows from values of that shape. Precondition: the shape is that of the tensor's
  // values but for the number of rows.
  Selection of_values(const Shape& shape, const Rows& rows) const;

  // Returns whether all selected rows of the values are whole and in their order.
  bool selects_whole_values() const;

  // Returns the result's levels. It has none if integers selected one row of every ragged axis.
  const std::vector<Level>& levels() const { return levels_; }
  int first_level() const { return first_level_; }  // of the tensor: integers selected one row of each level before it
  bool selects_whole_rows(int level) const { return !slices_[static_cast<std::size_t>(level)]; }

  // Returns the rows of a level, or of the values, if they are one run.
  std::optional<Rows> one_run(int level) const {
    Position at{first_level_, rows_};
    return reaches(at, level) ? std::optional(at.rows) : std::nullopt;
  }

  // Calls visit(rows) for each run of selected rows of a level, or of the values, in the order of the result.
  template <class Visit>
  void for_each_run(int level, const TaskRunner& tasks, const Visit& visit) const {
    Steps steps{tasks};
    descend({first_level_, rows_}, level, steps, visit);
  }

  // Returns how many rows of a level, or of the values, are selected.
  std::int64_t count(int level, const TaskRunner& tasks) const {
    Steps steps{tasks};
    return count_below({first_level_, rows_}, level, steps);
  }

  // Calls visit(rows, at) for the runs of the values in memory order. Their rows of the result begin at `at`. `count`
  // is the number of selected rows of the values.
  template <class Visit>
  void in_memory_order(std::int64_t count, const TaskRunner& tasks, const Visit& visit) const {
    Steps steps{tasks};
    ascend({first_level_, rows_}, {0, count}, steps, visit);
  }

  // Returns the selected items of a row of a level, as rows of the level below.
  Rows items_of(int level, std::int64_t row) const { return items_of(level, row, selects_whole_rows(level)); }

  // The same for loops over many rows, which have looked up selects_whole_rows(level) once.
  Rows items_of(int level, std::int64_t row, bool are_whole) const {
    const std::int64_t lo = rt_->split(level, row), count = rt_->split(level, row + 1) - lo;
    return are_whole ? Rows{lo, 1, count} : sliced(level, {lo, 1, count});
  }

 private:
  struct Position {
    int level;
    Rows rows;
  };

  // Counts steps and checks for cancellation.
  struct Steps {
    const TaskRunner& tasks;
    std::int64_t taken = 0;
    void next() { tasks.throw_if_cancelled_at(taken++); }
  };

  // Selects the rows of the values that `values` selects.
  RaggedSelection(const RaggedTensor& rt, Selection values);

  // The point from which the result is ragged: the index item, the level, and the rows that integers have selected
  // there.
  struct Start {
    std::size_t at;
    int level;
    Range rows;
    int new_axes;  // before this item
  };
  // From an item for every axis. Errors name their position in `items`.
  static Result<RaggedSelection> from_items(const RaggedTensor& rt, Index items);
  static Result<RaggedSelection> ragged(const RaggedTensor& rt, Index& items, const Start& start);

  // Returns the items that the slice of a level's rows selects from these, which are one row.
  Rows sliced(int level, const Rows& items) const;

  // Goes one level down if the rows below are one run again.
  bool step_down(Position& at) const {
    const Rows& rows = at.rows;
    if (rows.step == 1 && selects_whole_rows(at.level)) {
      const std::int64_t lo = rt_->split(at.level, rows.start), hi = rt_->split(at.level, rows.start + rows.count);
      at = {at.level + 1, {lo, 1, hi - lo}};
      return true;
    }
    if (rows.count != 1) return false;
    at = {at.level + 1, items_of(at.level, rows.start)};
    return true;
  }

  Position below(const Position& at, std::int64_t i, bool are_whole) const {
    return {at.level + 1, items_of(at.level, at.rows.start + i * at.rows.step, are_whole)};
  }

  // Goes down to that level, or as far as there is one run.
  bool reaches(Position& at, int level) const {
    while (at.level < level) {
      if (!step_down(at)) return false;
    }
    return true;
  }

  // Neither of these recurses if the rows below are one run: there may be millions of rows.
  template <class Visit>
  void descend(Position at, int level, Steps& steps, const Visit& visit) const {
    if (reaches(at, level)) return visit(at.rows);
    const bool are_whole = selects_whole_rows(at.level);
    const std::int64_t count = at.rows.count;
    for (std::int64_t i = 0; i < count; ++i) {
      steps.next();
      Position next = below(at, i, are_whole);
      if (reaches(next, level)) {
        visit(next.rows);
      } else {
        descend(next, level, steps, visit);
      }
    }
  }

  std::int64_t count_below(const Position& at, int level, Steps& steps) const {
    std::int64_t sum = 0;
    descend(at, level, steps, [&](const Rows& rows) { sum += rows.count; });
    return sum;
  }

  template <class Visit>
  void ascend(Position at, Range result, Steps& steps, const Visit& visit) const {
    const int values = rt_->ragged_rank();
    if (reaches(at, values)) return visit(at.rows, result.lo);
    const bool forward = at.rows.step > 0, are_whole = selects_whole_rows(at.level);
    const std::int64_t last = at.rows.count - 1;
    for (std::int64_t i = 0; i <= last; ++i) {
      steps.next();
      Position next = below(at, forward ? i : last - i, are_whole);
      const bool is_run = reaches(next, values);
      const std::int64_t count = is_run ? next.rows.count : count_below(next, values, steps);
      const Range part = forward ? Range{result.lo, result.lo + count} : Range{result.hi - count, result.hi};
      if (is_run) {
        visit(next.rows, part.lo);
      } else {
        ascend(next, part, steps, visit);
      }
      (forward ? result.lo : result.hi) = forward ? part.hi : part.lo;
    }
  }

  const RaggedTensor* rt_;
  Selection values_;  // of all rows of the values, if they are not one run
  int first_level_;
  Rows rows_;                                      // of that level
  std::vector<std::optional<SliceRange>> slices_;  // per level, of its rows; nullopt if they are whole
  std::vector<Level> levels_;
};

}  // namespace backslice
