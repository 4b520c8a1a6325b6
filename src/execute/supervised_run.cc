#include "execute/supervised_run.h"

#include <array>
#include <atomic>
#include <bit>
#include <exception>
#include <memory>
#include <new>
#include <optional>
#include <string>
#include <utility>

#include "core/errors.h"
#include "core/fork.h"

namespace backslice {
namespace {

using Task = std::function<void(std::int64_t)>;

template <class... Parts>
Status broken(const Parts&... parts) {
  return Status(StatusCode::Internal, join("context.executor->run ", parts...));
}

// The state that an executor's tasks refer to. It is never destroyed, and is reused from call to call.
class Run {
 public:
  Run() {
    for (std::uint32_t turn = 1; turn <= kTurns; ++turn) {
      entries_[turn - 1] = [this, turn](std::int64_t i) { enter(turn, i); };
    }
  }

  // Begins a call. Returns the function for the executor. The function differs in each of kTurns calls, so that a late
  // task is not taken for one of the next call.
  const Task& open(std::int64_t count, const Task& task) {
    const auto words = static_cast<std::size_t>((count + 63) / 64);
    if (words > few_.size()) many_ = std::make_unique<std::atomic<std::uint64_t>[]>(words);
    begun_ = words > few_.size() ? many_.get() : few_.data();
    for (std::size_t i = 0; i < words; ++i) begun_[i].store(0, std::memory_order_relaxed);
    turn_ = turn_ % kTurns + 1;
    task_ = &task;
    count_ = count;
    broke_contract_.store(false, std::memory_order_relaxed);
    state_.fetch_add(turn_ << kTurnBit, std::memory_order_release);
    return entries_[turn_ - 1];
  }

  // Ends the call: no task may begin any more. Returns whether no task was running.
  bool close() { return state_.fetch_sub(turn_ << kTurnBit, std::memory_order_acq_rel) == turn_ << kTurnBit; }

  void wait_for_running_tasks() const {
    for (std::uint64_t seen = state_.load(std::memory_order_acquire); seen != 0;) {
      state_.wait(seen, std::memory_order_acquire);
      seen = state_.load(std::memory_order_acquire);
    }
  }

  // Precondition of the rest: the call was closed, and no task is running.
  bool broke_contract() const { return broke_contract_.load(std::memory_order_relaxed); }
  bool any_begun() const {
    for (std::int64_t i = 0; i < count_; i += 64) {
      if (begun_[i / 64].load(std::memory_order_relaxed) != 0) return true;
    }
    return false;
  }

  // Runs the tasks that have not begun. Returns their number.
  std::int64_t run_rest() {
    std::int64_t rest = 0;
    for (std::int64_t i = 0; i < count_; ++i) {
      if (!begin(i)) continue;
      ++rest;
      (*task_)(i);
    }
    return rest;
  }

 private:
  static constexpr std::uint32_t kTurns = 8;
  static constexpr int kTurnBit = 32;

  // Called by executors, at any time. A late task of another call is ignored: this call's executor is not to blame.
  void enter(std::uint64_t turn, std::int64_t i) noexcept {
    std::uint64_t state = state_.load(std::memory_order_relaxed);
    do {
      if (state >> kTurnBit != turn) return;
    } while (!state_.compare_exchange_weak(state, state + 1, std::memory_order_acq_rel, std::memory_order_relaxed));
    if (i >= 0 && i < count_ && begin(i)) {
      (*task_)(i);
    } else {
      broke_contract_.store(true, std::memory_order_relaxed);
    }
    if (state_.fetch_sub(1, std::memory_order_acq_rel) == 1) state_.notify_all();
  }

  bool begin(std::int64_t i) {
    const std::uint64_t bit = std::uint64_t{1} << (i % 64);
    return (begun_[i / 64].fetch_or(bit, std::memory_order_relaxed) & bit) == 0;
  }

  // The turn (0 between calls), and the number of threads that run its tasks.
  alignas(64) std::atomic<std::uint64_t> state_ = 0;
  std::uint64_t turn_ = 0;
  const Task* task_ = nullptr;
  std::int64_t count_ = 0;
  std::atomic<std::uint64_t>* begun_ = nullptr;  // a bit for each task
  std::array<std::atomic<std::uint64_t>, 4> few_ = {};
  std::unique_ptr<std::atomic<std::uint64_t>[]> many_;
  std::atomic<bool> broke_contract_ = false;
  std::array<Task, kTurns> entries_;
};

class Runs {
 public:
  static Runs& instance() {
    alignas(Runs) static std::byte memory[sizeof(Runs)];
    static Runs* const all = new (memory) Runs;
    return *all;
  }

  // Returns an unused Run, or null. The Run that was used last is the last choice.
  Run* take() {
    const int first = static_cast<int>(next_.fetch_add(1, std::memory_order_relaxed) % kRuns);
    for (std::uint64_t seen = taken_.load(std::memory_order_relaxed); ~seen != 0;) {
      const int run = (std::countr_one(std::rotr(seen, first)) + first) % kRuns;
      if (taken_.compare_exchange_weak(seen, seen | bit(run), std::memory_order_acquire)) return &runs_[run];
    }
    return nullptr;
  }
  void give_back(const Run& run) { taken_.fetch_and(~bit(&run - runs_), std::memory_order_release); }

 private:
  static constexpr int kRuns = 64;
  static std::uint64_t bit(std::ptrdiff_t run) { return std::uint64_t{1} << run; }

  Run runs_[kRuns];
  std::atomic<std::uint64_t> taken_ = 0;
  std::atomic<std::uint32_t> next_ = 0;
};

// A Run, taken for the lifetime of this object, or forever if threads that a fork left behind still use it.
class TakenRun {
 public:
  TakenRun() : run_(Runs::instance().take()) {}
  TakenRun(const TakenRun&) = delete;
  ~TakenRun() {
    if (run_ != nullptr) Runs::instance().give_back(*run_);
  }
  Run* get() const { return run_; }
  void leave_for_ever() { run_ = nullptr; }

 private:
  Run* run_;
};

// Returns the exception that run() threw, or null.
std::exception_ptr run_unchecked(Executor& executor, std::int64_t count, const Task& task) noexcept {
  try {
    executor.run(count, task);
    return nullptr;
  } catch (...) {
    return std::current_exception();
  }
}

// Returns the error of one of our executors, or of an executor in C.
std::optional<Status> own_error(const std::exception_ptr& thrown) {
  if (!thrown) return std::nullopt;
  try {
    std::rethrow_exception(thrown);
  } catch (const StatusException& own) {
    return own.status();
  } catch (...) {
    return std::nullopt;
  }
}

std::string message_of(const std::exception_ptr& thrown) {
  try {
    std::rethrow_exception(thrown);
  } catch (const std::exception& known) {
    return known.what();
  } catch (...) {
    return "an exception of an unknown type";
  }
}

// Precondition: the run was closed.
Status finish(Run& run, bool is_early, const std::exception_ptr& thrown) {
  run.wait_for_running_tasks();
  const bool has_begun = run.any_begun();
  const std::int64_t rest = run.run_rest();
  if (auto error = own_error(thrown)) return *std::move(error);
  if (thrown && has_begun) return broken("threw after it had begun its tasks: ", message_of(thrown));
  if (thrown) return Status();
  if (rest > 0) return broken("left out tasks, ", rest, " of them; it must call all of them before it returns");
  if (is_early) return broken("returned before its tasks had");
  if (run.broke_contract()) return broken("called a task twice, or one that is not in [0, count)");
  return Status();
}

}  // namespace

Status run_supervised(Executor& executor, std::int64_t count, const Task& task) {
  TakenRun taken;
  Run* const run = taken.get();
  if (run == nullptr) {  // all Runs are in use
    for (std::int64_t i = 0; i < count; ++i) task(i);
    return Status();
  }
  const std::uint32_t generation = fork_generation();
  const std::exception_ptr thrown = run_unchecked(executor, count, run->open(count, task));
  const bool is_early = !run->close();
  if (is_early && generation != fork_generation()) {
    taken.leave_for_ever();
    return Status(StatusCode::FailedPrecondition,
                  "the process was forked during this operation, and the threads that worked on it are not in the "
                  "child; call it again there");
  }
  return finish(*run, is_early, thrown);
}

}  // namespace backslice
