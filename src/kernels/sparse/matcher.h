// Matchers: which row of a slice each input row is, if any.
//
// Everything about sparse slices is this question. The slice moves rows of the input to rows of the result; the
// gradient moves them back. A matcher answers for a block of rows at a time, as runs of rows that are consecutive on
// both sides, in a buffer that stays in the L1 cache. What moves the rows does not know which rule was followed.
#pragma once

#include <array>
#include <memory>
#include <span>

#include "backslice/coo_indices.h"
#include "backslice/ints.h"
#include "backslice/selection.h"

namespace backslice {

inline constexpr std::int64_t kNoRow = -1;
inline constexpr std::int64_t kBlockRows = 1024;  // a matcher is asked for at most so many rows at once

// Rows row, row + 1, ... of the input are rows slice_row, slice_row + 1, ... of the slice.
struct RowRun {
  std::int64_t row, slice_row, count;
};
using RowRuns = std::span<const RowRun>;
using RunBuffer = std::array<RowRun, kBlockRows>;

class Matcher {
 public:
  virtual ~Matcher() = default;

  // The runs among the input rows, in their order. `next` is the first row of the slice that is still to be found, and
  // moves on past those that are.
  virtual RowRuns match(Range rows, std::int64_t& next, RunBuffer& buffer) const = 0;

  // What `next` becomes.
  virtual std::int64_t count(Range rows, std::int64_t next) const;
};

// One whose rows can be cut into parts without counting them first: each part starts from a guess, and where each ends
// as the next one's guess says, all were right.
class GuessingMatcher : public Matcher {
 public:
  // A guess at `next` after the rows before `row`.
  virtual std::int64_t guess_next(std::int64_t row) const = 0;
};

// The rows in the window are the slice's, in their order.
std::unique_ptr<Matcher> match_window(const CooIndices& input, Ints start, Ints size);

// Row `next` of the slice is the next input row whose index is its own plus start. Sums that overflow match nothing.
std::unique_ptr<GuessingMatcher> match_in_order(const CooIndices& input, Ints start, const CooIndices& output);

// What was found out before: for each input row its row in the slice, or kNoRow.
std::unique_ptr<Matcher> match_as_found(const std::int32_t* slice_rows);

}  // namespace backslice
