// XLA's thread pool as an Executor, for the duration of one call.
#pragma once

#include "backslice/executor.h"
#include "xla/ffi/api/ffi.h"

namespace backslice::jax {

class PoolExecutor final : public Executor {
 public:
  explicit PoolExecutor(xla::ffi::ThreadPool pool) : pool_(pool) {}

  int concurrency() const override;

  /// The calling thread takes tasks like the threads of the pool, and can finish them alone. So it never waits for a
  /// thread of the pool that waits for it.
  void run(std::int64_t count, const std::function<void(std::int64_t)>& task) override;

 private:
  xla::ffi::ThreadPool pool_;
};

}  // namespace backslice::jax
