#include "plan/cut.h"

#include <algorithm>
#include <limits>

#include "core/tuning.h"
#include "execute/task_runner.h"

namespace backslice {

std::int64_t work_of(std::int64_t bytes, std::int64_t per_byte) {
  return std::min(bytes, std::numeric_limits<std::int64_t>::max() / per_byte) * per_byte;
}

std::int64_t pieces_for(std::int64_t work, int threads, std::int64_t least, std::int64_t largest) {
  const std::int64_t smallest = std::clamp(least / 4, kLeastParallelBytes, kParallelBytes / 4);
  if (work < kLeastParallelBytes) return 1;
  const std::int64_t for_threads = threads == 1 || work < least ? 1 : kTuning.pieces_per_thread * threads;
  const std::int64_t most = std::max<std::int64_t>(work / smallest, 2);
  const std::int64_t pieces = std::min(std::max(for_threads, work / largest), most);
  return threads < pieces && pieces < for_threads ? pieces - pieces % threads : pieces;  // equal for each thread
}

std::int64_t pieces_for(std::int64_t work, const TaskRunner& tasks, std::int64_t least) {
  return pieces_for(work, tasks.concurrency(), least,
                    tasks.can_be_cancelled() ? kLargestCancellablePiece : kLargestPiece);
}

}  // namespace backslice
