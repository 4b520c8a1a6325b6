// Cutting work into pieces: the one policy that every operation follows.
//
// Work is counted in bytes that are written at the speed of memory; what takes longer per byte counts
// more. Pieces are several per thread, so that a slow thread holds nobody up; none is so small that handing it over
// would cost more than doing it, and none so large that it could not be waited for when the operation is cancelled.
#pragma once

#include <cstdint>

#include "backslice/executor.h"
#include "core/cut_at.h"

namespace backslice {

class TaskRunner;

// Less than this is not worth a second thread: as a rule, and whatever the executor says (Executor::least_work).
inline constexpr std::int64_t kParallelBytes = Executor::kLeastWork, kLeastParallelBytes = kParallelBytes / 4;

// A piece of this size takes some hundredths of a second; of an operation that may be cancelled, a millisecond or so.
inline constexpr std::int64_t kLargestPiece = 64 << 20, kLargestCancellablePiece = 4 << 20;

// Writing so many bytes, each of which takes as long as copying `per_byte`. More than fits is as much as fits: layouts
// may be planned for that no memory could hold.
std::int64_t work_of(std::int64_t bytes, std::int64_t per_byte);

// At least one. `least` is how much work is worth a second thread; every piece has less than twice `largest`.
std::int64_t pieces_for(std::int64_t work, int threads, std::int64_t least = kParallelBytes,
                        std::int64_t largest = kLargestPiece);

// The same for tasks that run there.
std::int64_t pieces_for(std::int64_t work, const TaskRunner& tasks, std::int64_t least = kParallelBytes);

}  // namespace backslice
