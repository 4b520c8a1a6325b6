// Ctrl-C during an operation. Python handles signals only between its own instructions, so a long operation checks for
// them.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>

#include "backslice/executor.h"
#include "backslice/result.h"
#include "bindings/gil.h"

namespace backslice::python {

// Returns true when a check is due: taking the GIL is not free. The first time is one interval after the first call, so
// that short operations do not read the clock.
class Interval {
 public:
  bool has_passed();

 private:
  std::chrono::steady_clock::time_point last_;
};

// For a long loop that holds the GIL, and in which Python code may run: lets signal handlers run now and then, and
// throws their exceptions.
class LongLoop {
 public:
  void step() {
    if (++steps_ % kStepsBetween == 0) look();
  }
  // The same for a step that takes long itself.
  void look();

 private:
  static constexpr std::int64_t kStepsBetween = 256;

  std::int64_t steps_ = 0;
  Interval interval_;
};

// The same if no Python code may run: returns true after Ctrl-C. Then the loop ends and handle_ctrl_c() is called; if
// that does not throw, the loop starts again.
class LongSilentLoop {
 public:
  bool is_interrupted() { return ++steps_ % kStepsBetween == 0 && look(); }

 private:
  static constexpr std::int64_t kStepsBetween = 256;
  bool look();

  std::int64_t steps_ = 0;
  Interval interval_;
};

// Stores the thread on which Python handles signals. Called once, at import.
void learn_main_thread();

// One operation's test for signals. If a handler raises (Ctrl-C's raises KeyboardInterrupt), the test returns true, and
// check() and unwrap() throw the exception later.
class Interruption {
 public:
  Interruption();
  Interruption(const Interruption&) = delete;
  Interruption& operator=(const Interruption&) = delete;

  // Null on threads that do not handle signals.
  const CancelledTest* test() const { return test_ ? &test_ : nullptr; }

 private:
  bool happened();

  std::atomic<bool> happened_ = false;
  Interval interval_;
  CancelledTest test_;
};

// The same for containers. A GradBuffer is locked while it works, so no handler may run meanwhile: a handler that used
// the container would wait forever. Ctrl-C ends the call, which then has changed nothing, and the handler runs after
// it. If the handler does not raise, the call is repeated. Other signals wait for the end of the call.
// (GradBuffer.write may have changed the buffer; repeating it gives the same result.)

// For the options of containers. Returns true once, after Ctrl-C during a call through interruptible().
const CancelledTest* ctrl_c_test();

// Makes ctrl_c_test() detect Ctrl-C during its lifetime.
class CtrlCWatch {
 public:
  CtrlCWatch();
  ~CtrlCWatch();
  CtrlCWatch(const CtrlCWatch&) = delete;
  CtrlCWatch& operator=(const CtrlCWatch&) = delete;

 private:
  Interval interval_;
};

// Runs the handler of a Ctrl-C that ctrl_c_test() or a LongSilentLoop detected. Throws its exception.
void handle_ctrl_c();

inline StatusCode code_of(const Status& status) { return status.code(); }
template <class T>
StatusCode code_of(const Result<T>& result) {
  return result.ok() ? StatusCode::Ok : result.status().code();
}

// Calls a method of a container, which returns a Status or a Result, without the GIL.
template <class Call>
auto interruptible(const Call& call) {
  for (;;) {
    {
      const CtrlCWatch watch;
      auto result = without_gil(call);
      if (code_of(result) != StatusCode::Cancelled) return result;
    }
    handle_ctrl_c();
  }
}

}  // namespace backslice::python
