#include "ops/sparse_parts.h"

#include <algorithm>

#include "core/cut.h"
#include "plan/strategy.h"

namespace backslice {

SparseParts cut_rows(std::int64_t rows, std::int64_t bytes_per_row, const TaskRunner& runner) {
  constexpr std::int64_t kPartBytes = 64 << 10;   // less is not worth a thread
  constexpr std::int64_t kLargestRows = 1 << 20;  // more would take long to wait for
  constexpr std::int64_t kPartsPerThread = 8;
  const auto rows_in = [&](std::int64_t bytes) {
    return std::max<std::int64_t>(1, bytes / std::max<std::int64_t>(1, bytes_per_row));
  };
  const int threads = runner.concurrency();
  const std::int64_t for_threads = threads == 1 ? 1 : kPartsPerThread * threads;
  const std::int64_t to_wait_for = rows / std::min(kLargestRows, rows_in(kLargestPieceBytes));
  const std::int64_t worth = rows / rows_in(kPartBytes);
  const std::int64_t count = std::clamp<std::int64_t>(worth, 1, std::max(for_threads, to_wait_for));
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
