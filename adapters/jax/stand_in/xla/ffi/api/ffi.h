// Takes the place of jaxlib's header in the test of PoolExecutor, which runs where there is no jaxlib. Of ThreadPool it
// has what PoolExecutor uses.
#pragma once

#include <cstdint>
#include <functional>
#include <utility>

namespace xla::ffi {

class ThreadPool {
 public:
  using Task = std::function<void()>;

  ThreadPool(std::int64_t threads, std::function<void(Task)> schedule)
      : threads_(threads), schedule_(std::move(schedule)) {}

  void Schedule(Task task) { schedule_(std::move(task)); }
  std::int64_t num_threads() const { return threads_; }

 private:
  std::int64_t threads_;
  std::function<void(Task)> schedule_;
};

}  // namespace xla::ffi
