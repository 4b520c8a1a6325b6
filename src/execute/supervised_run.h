// run_supervised: one call of Executor::run, checked.
//
// An executor may be the user's code. It may skip tasks, run a task twice, return early, throw, or keep a task and call
// it after run() has returned. So tasks are counted, and the executor gets a function that stays valid until the
// process ends. A late task finds that its run is over, and does nothing.
#pragma once

#include <cstdint>
#include <functional>

#include "backslice/executor.h"
#include "backslice/status.h"

namespace backslice {

// Calls task(0), ..., task(count - 1) through the executor, each once, and returns when all have returned. Runs skipped
// tasks on this thread. Returns Internal if the executor broke its contract. An executor that throws before its first
// task was unable to begin; that is not an error. Precondition: tasks do not throw.
Status run_supervised(Executor& executor, std::int64_t count, const std::function<void(std::int64_t)>& task);

}  // namespace backslice
