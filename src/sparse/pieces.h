// Divides the rows of a sparse tensor among threads.
//
// A piece is a range of input rows, and the rows of the slice within it. The first row of the slice in each piece is
// counted (window), or guessed and then verified (in order). There are several pieces per thread: pieces with many rows
// of the slice cost more bytes, and must not delay the others.
#pragma once

#include <functional>
#include <vector>

#include "execute/task_runner.h"
#include "kernels/sparse/matcher.h"

namespace backslice {

struct SparsePiece {
  Range rows;                       // of the input
  std::int64_t first = 0, end = 0;  // of the slice: the first that may be in this piece, and one past the last
  Range slice_rows() const { return {first, end}; }
};

using SparsePieces = std::vector<SparsePiece>;  // at least one, even without rows

SparsePieces cut_rows(std::int64_t rows, std::int64_t bytes_per_row, const TaskRunner& runner);

// Runs `body` on every piece.
void run_pieces(SparsePieces& pieces, const TaskRunner& runner, const std::function<void(SparsePiece&)>& body);

// Finds where each piece's rows of the slice begin and end, by reading the indices.
void count_pieces(const Matcher& matcher, SparsePieces& pieces, const TaskRunner& runner);

// Runs `body` on every piece; it walks a piece from `first` and sets `end`. The first pass uses guesses; then pieces
// with a wrong guess are run again in order. In the end, each piece was walked from the end of the one before it.
void run_guessed(const GuessingMatcher& matcher, SparsePieces& pieces, const TaskRunner& runner,
                 const std::function<void(SparsePiece&)>& body);

}  // namespace backslice
