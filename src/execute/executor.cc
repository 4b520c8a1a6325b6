#include "backslice/executor.h"

#include <pthread.h>

#include <atomic>
#include <charconv>
#include <cstddef>
#include <cstdlib>
#include <mutex>
#include <string_view>
#include <thread>
#include <vector>

#include "core/errors.h"
#include "execute/default_pool.h"
#include "execute/environment.h"

namespace backslice {
namespace {

class SerialExecutor final : public Executor {
 public:
  int concurrency() const override { return 1; }
  void run(std::int64_t count, const std::function<void(std::int64_t)>& task) override {
    for (std::int64_t i = 0; i < count; ++i) task(i);
  }
};

int cores() { return static_cast<int>(std::max(1u, std::thread::hardware_concurrency())); }

// Far more threads than cores only wait for each other.
int most_threads() { return std::max(32, 4 * cores()); }

Result<int> parse_num_threads(std::string_view text) {
  int threads = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), threads);
  if (error == std::errc() && end == text.data() + text.size() && threads >= 1) {
    return std::min(threads, most_threads());
  }
  return invalid_argument("BACKSLICE_NUM_THREADS is \"", text, "\", expected a whole number of threads, at least 1");
}

// Returns the variable's number, or the number of cores.
Result<int> threads_of_environment() {
  const char* text = std::getenv("BACKSLICE_NUM_THREADS");
  if (text == nullptr || *text == '\0') return cores();
  return parse_num_threads(text);
}

// The process's executor. It is never destroyed: tasks of other threads may still run at exit, and a forked child does
// not have its threads.
class Default {
 public:
  static Default& instance() {
    static auto* self = new Default;
    return *self;
  }

  Executor& executor() {
    if (Executor* ready = current_.load(std::memory_order_acquire)) return *ready;
    const std::lock_guard lock(mutex_);
    if (current_.load() == nullptr) current_ = make();
    return *current_;
  }

  void set_threads(int threads) {
    const std::lock_guard lock(mutex_);
    is_environment_wrong_ = false;
    if (threads == threads_) return;
    threads_ = threads;
    // Another thread may still use the old pool, so it stays; its threads may end.
    if (Executor* old = current_.exchange(nullptr)) let_threads_end(*old, true);
  }

  int threads() const { return threads_; }

  // Returns the variable's error, until it is corrected or set_threads() is called.
  Status read_environment_again() {
    if (!is_environment_wrong_) return Status();
    const auto threads = threads_of_environment();
    if (!threads.ok()) return threads.status();
    set_threads(*threads);
    return Status();
  }

 private:
  Default() : threads_(cores()) {
    const auto threads = threads_of_environment();
    if (threads.ok()) threads_ = *threads;
    is_environment_wrong_ = !threads.ok();
    pthread_atfork(nullptr, nullptr, [] { instance().after_fork(); });
  }

  Executor* make() {
    if (threads_ == 1) return &serial_executor();
    for (Executor* made : made_) {
      if (made->concurrency() != threads_) continue;
      let_threads_end(*made, false);
      return made;
    }
    made_.reserve(made_.size() + 1);
    made_.push_back((forked_ ? make_thread_executor(threads_) : make_default_pool(threads_)).release());
    return made_.back();
  }

  // Only the forking thread exists in the child; the workers and the owner of the lock do not.
  void after_fork() {
    new (&mutex_) std::mutex;
    forked_ = true;
    current_ = nullptr;
    made_.clear();
  }

  std::mutex mutex_;
  std::vector<Executor*> made_;  // one for each number of threads so far: an old one may still be in use
  std::atomic<Executor*> current_ = nullptr;
  std::atomic<int> threads_;
  std::atomic<bool> is_environment_wrong_ = false;
  bool forked_ = false;
};

}  // namespace

Executor& serial_executor() noexcept {
  // Never destroyed, since a thread may still use it at exit. Static memory, which cannot run out.
  alignas(SerialExecutor) static std::byte memory[sizeof(SerialExecutor)];
  static auto* serial = new (memory) SerialExecutor;
  return *serial;
}

Executor& default_executor() noexcept {
  try {
    return Default::instance().executor();
  } catch (...) {  // no memory for a pool: the next call tries again
    return serial_executor();
  }
}

Status set_num_threads(int threads) {
  return without_throwing([&]() -> Status {
    if (threads < 1) return invalid_argument("threads is ", threads, ", must be >= 1").at("threads");
    Default::instance().set_threads(std::min(threads, most_threads()));
    return Status();
  });
}

int num_threads() noexcept {
  try {
    return Default::instance().threads();
  } catch (...) {  // no memory for it: the next call tries again
    return cores();
  }
}

Status check_num_threads_variable() {
  return without_throwing([] { return threads_of_environment().status(); });
}

Status settle_num_threads() { return Default::instance().read_environment_again(); }

}  // namespace backslice
