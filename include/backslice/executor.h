/// @file
/// Executor: how loops run in parallel.
///
/// Work is cut into tasks that write disjoint memory, and an executor runs them, in any order, on any threads. The
/// default is a pool of threads shared by the process, of as many threads as there are cores, or as
/// BACKSLICE_NUM_THREADS or set_num_threads() says. While the variable is not a number, operations on it fail. Where
/// the system refuses threads, fewer do the work, down to the calling thread alone. Results do not depend on the
/// executor or its number of threads.
///
/// A framework that has its own pool derives from Executor and passes it in a Context.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>

#include "backslice/export.h"
#include "backslice/status.h"

namespace backslice {

/// Runs the tasks of an operation.
class BACKSLICE_EXPORT Executor {
 public:
  virtual ~Executor() = default;

  /// How many tasks may run at once, the calling thread's included. Operations refuse less than 1, InvalidArgument.
  virtual int concurrency() const = 0;

  /// Calls task(0), ..., task(count - 1), each once, and returns when all have returned. Tasks do not throw. run() may
  /// throw itself only before the first task, or in a child that a task forked. Several threads may call it at once,
  /// and a task may call it again. An executor that breaks this contract (skips a task, runs one twice, returns or
  /// throws while tasks run) ends the operation with Internal, whose message begins with "context.executor->run"; the
  /// output then has unspecified values. A task that is called after run() has returned does nothing.
  virtual void run(std::int64_t count, const std::function<void(std::int64_t)>& task) = 0;

  /// Returns how much work is worth a second thread, in bytes that are written at the speed of memory. Threads that
  /// sleep until they are needed come too late for less; for threads that stay awake, an eighth is enough.
  virtual std::int64_t least_work() const { return kLeastWork; }
  static constexpr std::int64_t kLeastWork = 1 << 20;
};

/// Everything on the calling thread.
BACKSLICE_EXPORT Executor& serial_executor() noexcept;

/// The process's own pool. After fork(), the child starts its own pool when it first needs one.
BACKSLICE_EXPORT Executor& default_executor() noexcept;

/// Called between the pieces of an operation, on any of its threads, and before every 8 MiB that it writes at the
/// latest. (Zeros within the caches count an eighth.) Operations that write less than 4 MiB may not call it. Once it
/// returns true, the operation ends with the status Cancelled, and its output has unspecified values;
/// Status::output_written() says whether writing had begun.
using CancelledTest = std::function<bool()>;

/// A pool of that many threads, the caller's included. They are started when they are first needed. In a
/// forked child it has no threads but the caller's.
BACKSLICE_EXPORT std::unique_ptr<Executor> make_thread_executor(int threads);

/// How many threads the default executor uses. Less than one is InvalidArgument; more than four per core (or 32, where
/// that is more) would only wait for each other, and become that many.
BACKSLICE_EXPORT Status set_num_threads(int threads);
BACKSLICE_EXPORT int num_threads() noexcept;

}  // namespace backslice
