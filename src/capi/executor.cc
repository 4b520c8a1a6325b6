#include "capi/executor.h"

#include <algorithm>
#include <vector>

namespace backslice::capi {
namespace {

// The tasks of one run, each of which runs once, whoever asks for it.
class Tasks {
 public:
  Tasks(std::int64_t count, const std::function<void(std::int64_t)>& body)
      : body_(body), states_(static_cast<std::size_t>(count)) {}

  // What C calls.
  static void run(void* arg, std::int64_t i) {
    Tasks& tasks = *static_cast<Tasks*>(arg);
    if (i < 0 || i >= tasks.count() || !tasks.attempt(i)) tasks.strange_.store(true, std::memory_order_relaxed);
  }

  // Whether any task was begun by nobody.
  bool any_waiting() const {
    return std::any_of(states_.begin(), states_.end(),
                       [](const auto& state) { return state.load() == State::Waiting; });
  }

  // Runs what nobody has begun and waits for what somebody has.
  void finish() {
    for (std::int64_t i = 0; i < count(); ++i) attempt(i);
    for (auto& state : states_) state.wait(State::Running, std::memory_order_acquire);
  }

  // Whether a task was asked for twice, or one that there is not.
  bool any_strange() const { return strange_.load(std::memory_order_relaxed); }

 private:
  enum class State : std::uint8_t { Waiting, Running, Done };

  std::int64_t count() const { return std::ssize(states_); }

  bool attempt(std::int64_t i) {
    auto& state = states_[static_cast<std::size_t>(i)];
    State expected = State::Waiting;
    if (!state.compare_exchange_strong(expected, State::Running, std::memory_order_acq_rel)) return false;
    body_(i);
    state.store(State::Done, std::memory_order_release);
    state.notify_all();
    return true;
  }

  const std::function<void(std::int64_t)>& body_;
  std::vector<std::atomic<State>> states_;
  std::atomic<bool> strange_ = false;
};

}  // namespace

void CallbackExecutor::run(std::int64_t count, const std::function<void(std::int64_t)>& task) {
  Tasks tasks(count, task);
  std::int32_t code = 0;
  try {
    code = callbacks_.run(callbacks_.user, count, Tasks::run, &tasks);
  } catch (...) {  // a callback of C++
    code = -1;
  }
  if (code != 0) fail(Failure::Code, code);
  if (tasks.any_strange()) fail(Failure::Strange);
  // Before what is left is run: once this has failed, an operation that can be cancelled does no more of it.
  if (tasks.any_waiting()) fail(Failure::LeftOut);
  tasks.finish();
}

void CallbackExecutor::fail(Failure failure, std::int32_t code) {
  Failure none = Failure::None;
  if (failure_.compare_exchange_strong(none, failure)) code_ = code;
}

Status CallbackExecutor::ended(Status status) const {
  const auto internal = [](auto... parts) {
    return Status(StatusCode::Internal, join("context.executor->run ", parts...));
  };
  switch (failure_.load()) {
    case Failure::None: break;
    case Failure::Code: return internal("returned ", code_.load(), ", expected 0: it could not run its tasks");
    case Failure::LeftOut: return internal("returned 0 but left out tasks; it must call all of them first");
    case Failure::Strange: return internal("called a task twice, or one that is not in [0, count)");
  }
  return status;
}

}  // namespace backslice::capi
