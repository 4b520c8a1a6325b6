// run_supervised: one call of Executor::run, checked.
//
// An executor is code of the user's. It may leave out tasks, run one twice, return early, throw, or keep a task and
// call it after run() has returned. So tasks are counted, and what the executor gets lives as long as the process: a
// task that comes late finds that its run is over, and does nothing.
#pragma once

#include <cstdint>
#include <functional>

#include "backslice/executor.h"
#include "backslice/status.h"

namespace backslice {

// Calls task(0), ..., task(count - 1) through the executor, each once, and returns when all have returned; runs those
// that the executor leaves out on this thread. Returns Internal where the executor broke its contract. An executor that
// throws before its first task could not begin: that is no error. Precondition: tasks do not throw.
Status run_supervised(Executor& executor, std::int64_t count, const std::function<void(std::int64_t)>& task);

}  // namespace backslice
