// Executor: how loops run in parallel.
//
// Work is cut into tasks that write disjoint memory, and an executor runs them, in any order, on any threads. The
// default is a pool of threads shared by the process (oneTBB), of as many threads as there are cores, or as
// BACKSLICE_NUM_THREADS or set_num_threads() says. Results do not depend on the executor or its number of threads.
//
// A framework that has a pool of its own derives from Executor and passes it in Options.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>

#include "backslice/export.h"
#include "backslice/status.h"

namespace backslice {

class BACKSLICE_EXPORT Executor {
 public:
  virtual ~Executor() = default;

  // How many tasks may run at once, the calling thread's included.
  virtual int concurrency() const = 0;

  // Calls task(0), ..., task(count - 1), each once, and returns when all have returned. Tasks do not throw.
  virtual void run(std::int64_t count, const std::function<void(std::int64_t)>& task) = 0;
};

// Everything on the calling thread.
BACKSLICE_EXPORT Executor& serial_executor();

// The process's own pool. After fork() the child starts a pool of its own at its first use.
BACKSLICE_EXPORT Executor& default_executor();

// A pool of plain std::threads, for those who cannot have oneTBB: forked children, the thread sanitizer.
BACKSLICE_EXPORT std::unique_ptr<Executor> make_thread_executor(int threads);

// How many threads the default executor uses. Less than one is InvalidArgument.
BACKSLICE_EXPORT Status set_num_threads(int threads);
BACKSLICE_EXPORT int num_threads();

}  // namespace backslice
