// Cutting work into pieces: one policy for every operation.
//
// Work is counted in bytes that are written at the speed of memory; slower work counts more per byte. There are several
// pieces per thread, so that a slow thread delays nobody. No piece is so small that handing it over costs more than
// doing it, and none so large that a cancelled operation would end late.
#pragma once

#include <cstdint>

#include "backslice/executor.h"
#include "core/cut_at.h"

namespace backslice {

class TaskRunner;

// Less work than this is not worth a second thread: the default, and the lower bound of Executor::least_work.
inline constexpr std::int64_t kParallelBytes = Executor::kLeastWork, kLeastParallelBytes = kParallelBytes / 8;

// A piece of this size takes some hundredths of a second; in an operation that may be cancelled, about a millisecond.
inline constexpr std::int64_t kLargestPiece = 64 << 20, kLargestCancellablePiece = 4 << 20;

// Returns the work of writing so many bytes, each of which takes as long as copying `per_byte`. Saturates on overflow,
// since layouts may be planned that no memory could hold.
std::int64_t work_of(std::int64_t bytes, std::int64_t per_byte);

// Returns the number of pieces, at least one. `least` is how much work is worth a second thread; every piece has less
// than twice `largest`.
std::int64_t pieces_for(std::int64_t work, int threads, std::int64_t least = kParallelBytes,
                        std::int64_t largest = kLargestPiece);

// The same for the concurrency of `tasks`.
std::int64_t pieces_for(std::int64_t work, const TaskRunner& tasks, std::int64_t least = kParallelBytes);

}  // namespace backslice
