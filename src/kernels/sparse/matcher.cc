#include "kernels/sparse/matcher.h"

#include <algorithm>
#include <limits>
#include <utility>

#include "core/per_axis.h"
#include "core/tuning.h"
#include "kernels/sparse/first_not.h"
#include "kernels/sparse/index_rows.h"

namespace backslice {
namespace {

template <class Rows>
class WindowMatcher final : public Matcher {
 public:
  WindowMatcher(const CooIndices& input, Ints start, Ints size, const RowKernels& kernels)
      : input_(input), rows_(input), kernels_(kernels_for(input, input, kernels)) {
    for (int axis = 0; axis < input.rank(); ++axis) {
      const auto i = static_cast<std::size_t>(axis);
      std::int64_t last;
      if (__builtin_add_overflow(start[i], size[i] - 1, &last)) last = std::numeric_limits<std::int64_t>::max();
      const auto range = size[i] == 0 ? std::nullopt : within(input.dtype(), {start[i], last});
      is_empty_ |= !range;
      window_.push_back(range.value_or(AxisRange{0, 0}));
      if (kernels_ != nullptr) box_.low[axis] = window_[axis].low, box_.high[axis] = window_[axis].high;
    }
  }

  void match(Range rows, MatchCursor& cursor, FoundRows& found) const override {
    found.clear(cursor.next);
    if (is_empty_) return;
    if (kernels_ != nullptr) {
      found.add_bits(kernels_->inside(pointers_to(input_, rows.lo), rows.hi - rows.lo, box_, found.words()));
    } else {
      for (std::int64_t row = rows.lo; row < rows.hi; ++row) {
        found.add_if(is_inside(row), row - rows.lo);
      }
    }
    cursor.next += found.count();
  }

 private:
  bool is_inside(std::int64_t row) const {
    bool inside = true;
    for (int axis = 0; axis < rows_.rank(); ++axis) {
      const std::int64_t index = rows_.at(row, axis);
      inside &= window_[axis].low <= index && index <= window_[axis].high;
    }
    return inside;
  }

  CooIndices input_;
  Rows rows_;
  const IndexKernels* kernels_;  // or null
  InlineVector<AxisRange> window_;
  IndexBox box_ = {};  // window of the kernels
  bool is_empty_ = false;
};

// Two ways to the same result. Searching for one row of the slice after the other mispredicts a branch at the end of
// each run. But the slice of a window holds all the input rows in it, and vectors find the rows in a box without a
// branch. If these are the slice's next rows, one by one, and each of those lies in the box, then no row outside
// belongs to the slice. That holds for any box, so a box that is too small or too large is simply replaced.
template <class Rows>
class InOrderMatcher final : public GuessingMatcher {
 public:
  InOrderMatcher(const CooIndices& input, Ints start, const CooIndices& output, const RowKernels& kernels)
      : input_list_(input),
        output_list_(output),
        input_(input),
        output_(output),
        start_(Dims(start)),
        output_rows_(output.rows()),
        kernels_(kernels_for(input, output, kernels)),
        waits_for_memory_(waits_for_memory(input)) {}

  void match(Range rows, MatchCursor& cursor, FoundRows& found) const override {
    found.clear(cursor.next);
    const std::int64_t followed = will_search(cursor) ? 0 : follow(rows, cursor, found);
    search(rows, rows.lo + followed, cursor.next, found);
    cursor.runs_are_short = found.runs() * kTuning.followed_rows > rows.hi - rows.lo;
  }

  // Guesses the slice row, right if both lists are sorted: searches for the row's index among those of the slice. Of
  // rows with equal indices, the first matches the first, and so on.
  std::int64_t guess_next(std::int64_t row) const override {
    const std::int64_t first_equal = first_not(row, [&](std::int64_t i) { return compare(input_, i, row, false) < 0; });
    const std::int64_t low =
        first_not(output_rows_, [&](std::int64_t j) { return compare(output_, j, row, true) < 0; });
    const std::int64_t high =
        first_not(output_rows_, [&](std::int64_t j) { return compare(output_, j, row, true) <= 0; });
    return std::min(low + row - first_equal, high);
  }

 private:
  bool will_search(MatchCursor& cursor) const {
    if (kernels_ == nullptr || (waits_for_memory_ && !cursor.runs_are_short)) return true;
    return cursor.pause > 0 && cursor.pause-- > 0;
  }

  // Wide rows from memory: if runs are long, searching is as fast, and reads fewer columns.
  static bool waits_for_memory(const CooIndices& list) {
    constexpr std::int64_t kWideRow = 16, kCached = 4 << 20;  // bytes
    const std::int64_t row = list.rank() * item_size(list.dtype());
    return row > kWideRow && list.rows() > kCached / row;
  }

  void search(Range rows, std::int64_t row, std::int64_t& next, FoundRows& found) const {
    while (row < rows.hi && next < output_rows_) {
      row = find(rows, row, next);
      if (row == rows.hi) break;
      const std::int64_t most = std::min(rows.hi - row, output_rows_ - next);
      std::int64_t run = 1;
      while (run < most && are_equal(row + run, next + run)) ++run;
      found.add_run(row - rows.lo, run);
      row += run;
      next += run;
    }
  }

  // Returns the number of rows with a result. If no box helps, the next blocks do not try one.
  std::int64_t follow(Range rows, MatchCursor& cursor, FoundRows& found) const {
    constexpr std::int64_t kMore = 8 * kWordRows, kMany = 4 * kBlockRows;
    constexpr int kTries = 3;  // without progress
    if (cursor.next == output_rows_) return rows.hi - rows.lo;
    bool fits = cursor.in_box == cursor.next || set_wide_box(cursor, kMore);
    std::int64_t done = 0;
    for (int tries = 0; fits && tries < kTries; ++tries) {
      const Followed followed = follow_from(rows.lo + done, rows.hi, cursor, found.words() + done / kWordRows);
      found.add_bits(followed.found);
      done += followed.rows;
      if (followed.rows > 0) tries = 0;
      switch (followed.parted) {
        case Parted::NotYet:
        case Parted::Ended: return done;
        case Parted::OutsideBox: fits = add_to_box(cursor, cursor.next, kMore); break;
        case Parted::Differ: fits = set_box(cursor, kMany); break;
      }
    }
    cursor.in_box = kNoRow;
    cursor.pause = std::exchange(cursor.next_pause, 2 * cursor.next_pause);
    return done;
  }

  Followed follow_from(std::int64_t row, std::int64_t end, MatchCursor& cursor, FoundRows::Word* words) const {
    const Followed followed =
        kernels_->follow(pointers_to(input_list_, row), end - row, pointers_to(output_list_, cursor.next),
                         output_rows_ - cursor.next, cursor.box, start_.begin(), words);
    cursor.in_box = cursor.next += followed.found.count;
    return followed;
  }

  // Computes the box of the next rows of the slice.
  bool set_box(MatchCursor& cursor, std::int64_t rows) const {
    cursor.box = no_box();
    cursor.in_box = cursor.next;
    return add_to_box(cursor, cursor.next, rows);
  }

  // Extends it by some later rows, so that it rarely has to grow.
  bool set_wide_box(MatchCursor& cursor, std::int64_t rows) const {
    constexpr std::int64_t kSome = 8;
    bool fits = set_box(cursor, rows);
    for (std::int64_t i = 1; i <= kSome; ++i) {
      fits = fits && add_to_box(cursor, cursor.next + (output_rows_ - 1 - cursor.next) / kSome * i, 1);
    }
    return fits && add_to_box(cursor, output_rows_ - 1, 1);
  }

  // Returns false if sums overflow.
  bool add_to_box(MatchCursor& cursor, std::int64_t first, std::int64_t rows) const {
    const IndexBox more = kernels_->bounds(pointers_to(output_list_, first), std::min(rows, output_rows_ - first));
    for (int axis = 0; axis < input_.rank(); ++axis) {
      std::int64_t low, high;
      if (__builtin_add_overflow(more.low[axis], start_[axis], &low)) return false;
      if (__builtin_add_overflow(more.high[axis], start_[axis], &high)) return false;
      if (!fits_dtype(input_list_.dtype(), {low, high})) return false;
      cursor.box.low[axis] = std::min(cursor.box.low[axis], low);
      cursor.box.high[axis] = std::max(cursor.box.high[axis], high);
    }
    return true;
  }

  static IndexBox no_box() {
    IndexBox box;
    std::fill(std::begin(box.low), std::end(box.low), std::numeric_limits<std::int64_t>::max());
    std::fill(std::begin(box.high), std::end(box.high), std::numeric_limits<std::int64_t>::min());
    return box;
  }

  bool are_equal(std::int64_t row, std::int64_t output_row) const {
    bool equal = true;
    for (int axis = 0; axis < input_.rank(); ++axis) {
      std::int64_t in_slice;
      equal &= !__builtin_sub_overflow(input_.at(row, axis), start_[axis], &in_slice);
      equal &= in_slice == output_.at(output_row, axis);
    }
    return equal;
  }

  // Returns the first input row from `row` on that equals this row of the slice, or the end of the rows.
  std::int64_t find(Range rows, std::int64_t row, std::int64_t output_row) const {
    PerAxis<std::int64_t> index;
    for (int axis = 0; axis < input_.rank(); ++axis) {
      if (__builtin_add_overflow(output_.at(output_row, axis), start_[axis], &index[axis])) return rows.hi;
    }
    // The last axis first: in sorted lists it changes most often.
    const auto is_wanted = [&] {
      for (int axis = input_.rank() - 1; axis >= 0; --axis) {
        if (input_.at(row, axis) != index[axis]) return false;
      }
      return true;
    };
    while (row < rows.hi && !is_wanted()) ++row;
    return row;
  }

  // Compares row i of `list` with input row `row`, from which start is subtracted for rows of the slice: -1, 0 or 1 if
  // it comes before, is equal, or comes after. The difference may wrap, which does not matter for a guess.
  int compare(const Rows& list, std::int64_t i, std::int64_t row, bool of_slice) const {
    for (int axis = 0; axis < input_.rank(); ++axis) {
      const auto start = static_cast<std::uint64_t>(of_slice ? start_[axis] : 0);
      const auto wanted = static_cast<std::int64_t>(static_cast<std::uint64_t>(input_.at(row, axis)) - start);
      const std::int64_t index = list.at(i, axis);
      if (index != wanted) return index < wanted ? -1 : 1;
    }
    return 0;
  }

  CooIndices input_list_, output_list_;
  Rows input_, output_;
  Dims start_;
  std::int64_t output_rows_;
  const IndexKernels* kernels_;  // or null
  bool waits_for_memory_;
};

class FoundMatcher final : public Matcher {
 public:
  FoundMatcher(const std::int32_t* slice_rows, const RowKernels& kernels)
      : slice_rows_(slice_rows), kernels_(kernels.indices32.columns[0]) {}

  // kNoRow is the only negative row.
  void match(Range rows, MatchCursor&, FoundRows& found) const override {
    const std::int32_t* const of_block = slice_rows_ + rows.lo;
    found.clear(0, of_block);
    const IndexPointers pointers{{reinterpret_cast<const std::byte*>(of_block)}};
    const IndexBox any{{0}, {std::numeric_limits<std::int32_t>::max()}};
    found.add_bits(kernels_.inside(pointers, rows.hi - rows.lo, any, found.words()));
  }

 private:
  const std::int32_t* slice_rows_;
  const IndexKernels& kernels_;
};

}  // namespace

void FoundRows::add_if(bool found, std::int64_t row) {
  words_[static_cast<std::size_t>(row / kWordRows)] |= Word{found} << (row % kWordRows);
  set_.count += found;
  set_.runs += found;
}

void FoundRows::add_run(std::int64_t row, std::int64_t count) {
  set_.count += count;
  ++set_.runs;
  for (const std::int64_t end = row + count; row < end;) {
    const std::int64_t first = row % kWordRows, in_word = std::min(kWordRows - first, end - row);
    words_[static_cast<std::size_t>(row / kWordRows)] |= kAllRows >> (kWordRows - in_word) << first;
    row += in_word;
  }
}

void FoundRows::add_bits(SetBits set) {
  set_.count += set.count;
  set_.runs += set.runs;
}

void FoundRows::keep_first(std::int64_t count) {
  for (auto word = words_.end(); set_.count > count;) {
    --word;
    for (; *word != 0 && set_.count > count; --set_.count) *word &= ~std::bit_floor(*word);
  }
}

std::int64_t Matcher::count(Range rows, std::int64_t next) const {
  MatchCursor cursor{next};
  FoundRows found;
  for (std::int64_t lo = rows.lo; lo < rows.hi; lo += kBlockRows) {
    match({lo, std::min(lo + kBlockRows, rows.hi)}, cursor, found);
  }
  return cursor.next;
}

std::unique_ptr<Matcher> match_window(const CooIndices& input, Ints start, Ints size, const RowKernels& kernels) {
  return visit_rows(input, input, [&]<class Rows>() -> std::unique_ptr<Matcher> {
    return std::make_unique<WindowMatcher<Rows>>(input, start, size, kernels);
  });
}

std::unique_ptr<GuessingMatcher> match_in_order(const CooIndices& input, Ints start, const CooIndices& output,
                                                const RowKernels& kernels) {
  return visit_rows(input, output, [&]<class Rows>() -> std::unique_ptr<GuessingMatcher> {
    return std::make_unique<InOrderMatcher<Rows>>(input, start, output, kernels);
  });
}

std::unique_ptr<Matcher> match_as_found(const std::int32_t* slice_rows, const RowKernels& kernels) {
  return std::make_unique<FoundMatcher>(slice_rows, kernels);
}

}  // namespace backslice
