// How the rows of a sparse tensor are shared between threads.
//
// A part is a range of input rows, and the rows of the slice that fall into it. Where the slice's rows begin for each
// part is counted (window) or guessed and then verified (in order). There are several parts for each thread, so that
// parts with many rows of the slice, which cost more bytes, do not hold the others up.
#pragma once

#include <functional>
#include <vector>

#include "execute/task_runner.h"
#include "kernels/sparse/matcher.h"

namespace backslice {

struct SparsePart {
  Range rows;                       // of the input
  std::int64_t first = 0, end = 0;  // of the slice: the first that may be in this part, the first after it
  Range slice_rows() const { return {first, end}; }
};

using SparseParts = std::vector<SparsePart>;  // at least one, also of no rows

SparseParts cut_rows(std::int64_t rows, std::int64_t bytes_per_row, int threads);

// Runs `body` on every part.
void run_parts(SparseParts& parts, const TaskRunner& runner, const std::function<void(SparsePart&)>& body);

// Finds out where each part's rows of the slice begin and end, by reading the indices.
void count_parts(const Matcher& matcher, SparseParts& parts, const TaskRunner& runner);

// Runs `body`, which walks a part from `first` and sets `end`, on every part: with guesses first, then again, in order,
// on those whose guess was wrong. In the end each part was walked from where the one before it ended.
void run_guessed(const GuessingMatcher& matcher, SparseParts& parts, const TaskRunner& runner,
                 const std::function<void(SparsePart&)>& body);

}  // namespace backslice
