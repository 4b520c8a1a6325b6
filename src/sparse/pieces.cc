#include "sparse/pieces.h"

#include <algorithm>
#include <limits>

#include "core/checked_math.h"
#include "plan/cut.h"

namespace backslice {

SparsePieces cut_rows(std::int64_t rows, std::int64_t bytes_per_row, const TaskRunner& runner) {
  // comparing the indices of a row takes as long as writing this many times its bytes
  constexpr std::int64_t kWork = 8;
  const auto bytes = checked_multiply(rows, std::max<std::int64_t>(1, bytes_per_row));
  const auto work = bytes ? checked_multiply(*bytes, kWork) : std::nullopt;
  const std::int64_t most = std::max<std::int64_t>(1, rows);
  const std::int64_t count =
      std::min(most, pieces_for(work.value_or(std::numeric_limits<std::int64_t>::max()), runner));
  SparsePieces pieces;
  for (std::int64_t i = 0; i < count; ++i) pieces.push_back({{cut_at(rows, count, i), cut_at(rows, count, i + 1)}});
  return pieces;
}

void run_pieces(SparsePieces& pieces, const TaskRunner& runner, const std::function<void(SparsePiece&)>& body) {
  runner.run(static_cast<std::int64_t>(pieces.size()),
             [&](std::int64_t i) { body(pieces[static_cast<std::size_t>(i)]); });
}

void count_pieces(const Matcher& matcher, SparsePieces& pieces, const TaskRunner& runner) {
  run_pieces(pieces, runner, [&](SparsePiece& piece) { piece.end = matcher.count(piece.rows, 0); });
  std::int64_t total = 0;
  for (SparsePiece& piece : pieces) {
    piece.first = total;
    total = piece.end += total;
  }
}

void run_guessed(const GuessingMatcher& matcher, SparsePieces& pieces, const TaskRunner& runner,
                 const std::function<void(SparsePiece&)>& body) {
  for (std::size_t i = 1; i < pieces.size(); ++i) pieces[i].first = matcher.guess_next(pieces[i].rows.lo);
  run_pieces(pieces, runner, body);
  for (std::size_t i = 1; i < pieces.size(); ++i) {
    if (pieces[i].first == pieces[i - 1].end) continue;
    pieces[i].first = pieces[i - 1].end;
    runner.throw_if_cancelled();
    body(pieces[i]);
  }
}

}  // namespace backslice
