#include "sparse/parts.h"

#include <algorithm>
#include <limits>

#include "core/checked_math.h"
#include "plan/cut.h"

namespace backslice {

SparseParts cut_rows(std::int64_t rows, std::int64_t bytes_per_row, int threads) {
  constexpr std::int64_t kWork = 8;  // comparing a row's indices takes as long as writing so many times its bytes
  const auto bytes = checked_multiply(rows, std::max<std::int64_t>(1, bytes_per_row));
  const auto work = bytes ? checked_multiply(*bytes, kWork) : std::nullopt;
  const std::int64_t most = std::max<std::int64_t>(1, rows);
  const std::int64_t count =
      std::min(most, pieces_for(work.value_or(std::numeric_limits<std::int64_t>::max()), threads));
  SparseParts parts;
  for (std::int64_t i = 0; i < count; ++i) parts.push_back({{cut_at(rows, count, i), cut_at(rows, count, i + 1)}});
  return parts;
}

void run_parts(SparseParts& parts, const TaskRunner& runner, const std::function<void(SparsePart&)>& body) {
  runner.run(static_cast<std::int64_t>(parts.size()),
             [&](std::int64_t i) { body(parts[static_cast<std::size_t>(i)]); });
}

void count_parts(const Matcher& matcher, SparseParts& parts, const TaskRunner& runner) {
  run_parts(parts, runner, [&](SparsePart& part) { part.end = matcher.count(part.rows, 0); });
  std::int64_t total = 0;
  for (SparsePart& part : parts) {
    part.first = total;
    total = part.end += total;
  }
}

void run_guessed(const GuessingMatcher& matcher, SparseParts& parts, const TaskRunner& runner,
                 const std::function<void(SparsePart&)>& body) {
  for (std::size_t i = 1; i < parts.size(); ++i) parts[i].first = matcher.guess_next(parts[i].rows.lo);
  run_parts(parts, runner, body);
  for (std::size_t i = 1; i < parts.size(); ++i) {
    if (parts[i].first == parts[i - 1].end) continue;
    parts[i].first = parts[i - 1].end;
    runner.throw_if_cancelled();
    body(parts[i]);
  }
}

}  // namespace backslice
