#include "kernels/sparse/matcher.h"

#include <algorithm>
#include <limits>

#include "kernels/sparse/index_rows.h"

namespace backslice {
namespace {

// Whether each row of a block is in the slice. Where that is as good as random, no branch should depend on it: first
// the flags of all rows are found, then the places where they change.
using Flags = std::array<std::uint8_t, kBlockRows + 1>;

// The runs of rows that are flagged.
RowRuns runs_of(Flags& flags, Range rows, std::int64_t& next, RunBuffer& buffer) {
  const std::int64_t total = rows.hi - rows.lo;
  flags[static_cast<std::size_t>(total)] = 0;
  std::array<std::int64_t, kBlockRows + 2> changes;
  std::size_t found = 0;
  std::uint8_t before = 0;
  for (std::int64_t i = 0; i <= total; ++i) {
    changes[found] = rows.lo + i;
    found += flags[static_cast<std::size_t>(i)] != before;
    before = flags[static_cast<std::size_t>(i)];
  }
  for (std::size_t run = 0; run < found / 2; ++run) {
    const std::int64_t begin = changes[2 * run], end = changes[2 * run + 1];
    buffer[run] = {begin, next, end - begin};
    next += end - begin;
  }
  return {buffer.data(), found / 2};
}

template <class Rows>
class WindowMatcher final : public Matcher {
 public:
  WindowMatcher(const CooIndices& input, Ints start, Ints size) : input_(input) {
    for (int axis = 0; axis < input.rank(); ++axis) {
      const auto i = static_cast<std::size_t>(axis);
      std::int64_t last;
      if (__builtin_add_overflow(start[i], size[i] - 1, &last)) last = std::numeric_limits<std::int64_t>::max();
      is_empty_ |= size[i] == 0;
      first_.push_back(static_cast<std::uint64_t>(start[i]));
      reach_.push_back(static_cast<std::uint64_t>(last) - static_cast<std::uint64_t>(start[i]));
    }
  }

  RowRuns match(Range rows, std::int64_t& next, RunBuffer& buffer) const override {
    Flags inside;
    for (std::int64_t row = rows.lo; row < rows.hi; ++row) {
      inside[static_cast<std::size_t>(row - rows.lo)] = is_inside(row);
    }
    return runs_of(inside, rows, next, buffer);
  }

  std::int64_t count(Range rows, std::int64_t next) const override {
    for (std::int64_t row = rows.lo; row < rows.hi; ++row) next += is_inside(row);
    return next;
  }

 private:
  // first <= index <= last, as distances from first: unsigned, they are exact and never negative.
  bool is_inside(std::int64_t row) const {
    bool inside = !is_empty_;
    for (int axis = 0; axis < input_.rank(); ++axis) {
      inside &= static_cast<std::uint64_t>(input_.at(row, axis)) - first_[axis] <= reach_[axis];
    }
    return inside;
  }

  Rows input_;
  InlineVector<std::uint64_t> first_, reach_;  // on each axis
  bool is_empty_ = false;
};

template <class Rows>
class InOrderMatcher final : public GuessingMatcher {
 public:
  InOrderMatcher(const CooIndices& input, Ints start, const CooIndices& output)
      : input_(input), output_(output), start_(Dims(start)), output_rows_(output.rows()) {}

  RowRuns match(Range rows, std::int64_t& next, RunBuffer& buffer) const override {
    std::size_t runs = 0;
    std::int64_t row = rows.lo;
    while (row < rows.hi && next < output_rows_) {
      row = find(rows, row, next);
      const std::int64_t most = std::min(rows.hi - row, output_rows_ - next);
      std::int64_t count = 0;
      while (count < most && are_equal(row + count, next + count)) ++count;
      if (count > 0) buffer[runs++] = {row, next, count};
      row += std::max<std::int64_t>(count, 1);  // a row that was found and has changed since is passed
      next += count;
    }
    return {buffer.data(), runs};
  }

  // Right if both lists are sorted: searches for the row's index among those of the slice. Of rows with the same index
  // the first belongs to the first, and so on.
  std::int64_t guess_next(std::int64_t row) const override {
    const std::int64_t first_equal =
        lower_bound(row, [&](std::int64_t i) { return compare(input_, i, row, false) < 0; });
    const std::int64_t low =
        lower_bound(output_rows_, [&](std::int64_t j) { return compare(output_, j, row, true) < 0; });
    const std::int64_t high =
        lower_bound(output_rows_, [&](std::int64_t j) { return compare(output_, j, row, true) <= 0; });
    return std::min(low + row - first_equal, high);
  }

 private:
  bool are_equal(std::int64_t row, std::int64_t output_row) const {
    bool equal = true;
    for (int axis = 0; axis < input_.rank(); ++axis) {
      std::int64_t in_slice;
      equal &= !__builtin_sub_overflow(input_.at(row, axis), start_[axis], &in_slice);
      equal &= in_slice == output_.at(output_row, axis);
    }
    return equal;
  }

  // The first input row from `row` on that is this row of the slice, or the end of the rows.
  std::int64_t find(Range rows, std::int64_t row, std::int64_t output_row) const {
    std::array<std::int64_t, kMaxRank> index;
    for (int axis = 0; axis < input_.rank(); ++axis) {
      if (__builtin_add_overflow(output_.at(output_row, axis), start_[axis], &index[axis])) return rows.hi;
    }
    // The last axis first: in sorted lists it changes most.
    const auto is_wanted = [&] {
      for (int axis = input_.rank() - 1; axis >= 0; --axis) {
        if (input_.at(row, axis) != index[axis]) return false;
      }
      return true;
    };
    while (row < rows.hi && !is_wanted()) ++row;
    return row;
  }

  // The first of 0, ..., count - 1 that is not `before`, or count.
  template <class Before>
  static std::int64_t lower_bound(std::int64_t count, const Before& before) {
    std::int64_t low = 0;
    while (count > 0) {
      const std::int64_t half = count / 2;
      if (before(low + half)) {
        low += half + 1;
        count -= half + 1;
      } else {
        count = half;
      }
    }
    return low;
  }

  // -1, 0 or 1 as row i of `list` comes before, at or after input row `row`, from which start is subtracted for rows of
  // the slice. For a guess it does not matter that the difference may wrap.
  int compare(const Rows& list, std::int64_t i, std::int64_t row, bool of_slice) const {
    for (int axis = 0; axis < input_.rank(); ++axis) {
      const auto start = static_cast<std::uint64_t>(of_slice ? start_[axis] : 0);
      const auto wanted = static_cast<std::int64_t>(static_cast<std::uint64_t>(input_.at(row, axis)) - start);
      const std::int64_t index = list.at(i, axis);
      if (index != wanted) return index < wanted ? -1 : 1;
    }
    return 0;
  }

  Rows input_, output_;
  Dims start_;
  std::int64_t output_rows_;
};

class FoundMatcher final : public Matcher {
 public:
  explicit FoundMatcher(const std::int32_t* slice_rows) : slice_rows_(slice_rows) {}
  RowRuns match(Range rows, std::int64_t&, RunBuffer& buffer) const override {
    std::size_t runs = 0;
    for (std::int64_t row = rows.lo; row < rows.hi; ++row) {
      buffer[runs] = {row, slice_rows_[row], 1};
      runs += buffer[runs].slice_row != kNoRow;
    }
    return {buffer.data(), runs};
  }

 private:
  const std::int32_t* slice_rows_;
};

}  // namespace

std::int64_t Matcher::count(Range rows, std::int64_t next) const {
  RunBuffer buffer;
  for (std::int64_t lo = rows.lo; lo < rows.hi; lo += kBlockRows) {
    match({lo, std::min(lo + kBlockRows, rows.hi)}, next, buffer);
  }
  return next;
}

std::unique_ptr<Matcher> match_window(const CooIndices& input, Ints start, Ints size) {
  return visit_rows(input, input, [&]<class Rows>() -> std::unique_ptr<Matcher> {
    return std::make_unique<WindowMatcher<Rows>>(input, start, size);
  });
}

std::unique_ptr<GuessingMatcher> match_in_order(const CooIndices& input, Ints start, const CooIndices& output) {
  return visit_rows(input, output, [&]<class Rows>() -> std::unique_ptr<GuessingMatcher> {
    return std::make_unique<InOrderMatcher<Rows>>(input, start, output);
  });
}

std::unique_ptr<Matcher> match_as_found(const std::int32_t* slice_rows) {
  return std::make_unique<FoundMatcher>(slice_rows);
}

}  // namespace backslice
