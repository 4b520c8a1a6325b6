// Matchers: find the rows of the input that a slice holds.
//
// Sparse slices consist of this question. The slice moves rows of the input to rows of the result; the gradient moves
// them back. A matcher answers for a block of rows at a time, in a buffer that stays in the L1 cache. The code that
// moves the rows does not know the rule.
#pragma once

#include <array>
#include <bit>
#include <memory>

#include "backslice/coo_indices.h"
#include "backslice/ints.h"
#include "backslice/selection.h"
#include "backslice/tensor.h"
#include "kernels/cpu/kernel_context.h"

namespace backslice {

inline constexpr std::int64_t kBlockRows = 1024;  // largest number of rows in one call of a matcher

inline constexpr std::int64_t kNoRow = -1;

// The rows of a block that are in the slice: a bit for each row, counted from the block's first.
//
// They may be random or come in long runs. Bits that are read word by word are fast in both cases.
class FoundRows {
 public:
  using Word = std::uint64_t;
  static constexpr Word kAllRows = ~Word{0};

  // Removes all rows. Slice rows will be consecutive from `first` on, or listed for each row of the block.
  void clear(std::int64_t first, const std::int32_t* joined = nullptr) {
    words_.fill(0);
    set_ = {};
    first_ = first;
    joined_ = joined;
  }
  void add_if(bool found, std::int64_t row);
  void add_run(std::int64_t row, std::int64_t count);
  Word* words() { return words_.data(); }
  const Word* words() const { return words_.data(); }
  void add_bits(SetBits set);

  void keep_first(std::int64_t count);

  std::int64_t count() const { return set_.count; }
  std::int64_t runs() const { return set_.runs; }  // of consecutive rows, approximately

  bool follow_each_other() const { return joined_ == nullptr; }
  // Returns the slice row of a row that is the i-th found one.
  std::int64_t slice_row(std::int64_t row, std::int64_t i) const {
    return follow_each_other() ? first_ + i : joined_[row];
  }

  // Calls body(row, i) for each found row, the i-th one.
  template <class Body>
  void for_each(const Body& body) const {
    std::int64_t first = 0, i = 0;
    for (Word word : words_) {
      for (; word != 0; word &= word - 1) body(first + std::countr_zero(word), i++);
      first += kWordRows;
    }
  }

  // Calls body(row, i, count) for runs of consecutive rows in a word.
  template <class Body>
  void for_each_run(const Body& body) const {
    std::int64_t first = 0, i = 0;
    for (Word word : words_) {
      while (word != 0) {
        const int start = std::countr_zero(word), count = std::countr_one(word >> start);
        body(first + start, i, count);
        i += count;
        word &= start + count == kWordRows ? 0 : kAllRows << (start + count);
      }
      first += kWordRows;
    }
  }

 private:
  std::array<Word, kBlockRows / kWordRows> words_;
  SetBits set_;
  std::int64_t first_ = 0;
  const std::int32_t* joined_ = nullptr;
};

// The position of a walk over the input rows.
struct MatchCursor {
  std::int64_t next;            // the first row of the slice that is still to be found
  bool runs_are_short = false;  // in the last block

  // For matchers that follow the slice through a box: the box contains this row of the slice.
  std::int64_t in_box = kNoRow;
  IndexBox box = {};

  // Number of blocks for which they do not try, and number after the next failure.
  std::int64_t pause = 0, next_pause = 1;
};

class Matcher {
 public:
  virtual ~Matcher() = default;

  // Finds the rows that the slice holds. The cursor moves past them.
  virtual void match(Range rows, MatchCursor& cursor, FoundRows& found) const = 0;

  // Returns the next value of `next`.
  std::int64_t count(Range rows, std::int64_t next) const;
};

// A matcher whose rows can be cut into pieces without counting them first: each piece starts from a guess. If each
// piece ends at the next one's guess, all guesses were right.
class GuessingMatcher : public Matcher {
 public:
  // Guesses `next` after the rows before `row`.
  virtual std::int64_t guess_next(std::int64_t row) const = 0;
};

// The rows in the window are the slice's, in their order.
std::unique_ptr<Matcher> match_window(const CooIndices& input, Ints start, Ints size, const RowKernels& kernels);

// Row `next` of the slice is the next input row whose index is its own plus start. Sums that overflow match nothing.
std::unique_ptr<GuessingMatcher> match_in_order(const CooIndices& input, Ints start, const CooIndices& output,
                                                const RowKernels& kernels);

// The result of a join: for each input row its row in the slice, or kNoRow.
std::unique_ptr<Matcher> match_as_found(const std::int32_t* slice_rows, const RowKernels& kernels);

// -- Matching in any order: the n-th row of the slice with an index matches the n-th input row with that index.
//
// A join by partitions. Each row has a key: its position in the box of the slice's indices, if that fits into 64 bits
// together with the number of the row, else a hash. Rows of both lists are distributed by their keys, in order, so that
// each partition's slice rows make a hash table that stays in the cache. Input rows outside the box are not
// distributed.

struct Joined {
  Buffer slice_rows;       // an int32 for each input row: its row in the slice, or kNoRow
  std::int64_t found = 0;  // number of matched rows of the slice

  std::int32_t* rows() const { return reinterpret_cast<std::int32_t*>(slice_rows.data()); }
};

// Precondition: the slice has fewer than 2^31 rows.
Joined join_in_any_order(const CooIndices& input, Ints start, const CooIndices& output, const KernelContext& context);

}  // namespace backslice
