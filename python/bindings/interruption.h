// Ctrl-C during an operation: Python looks at signals only between its own instructions, so a long operation looks for
// it.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>

#include "backslice/executor.h"
#include "backslice/result.h"
#include "bindings/gil.h"

namespace backslice::python {

// Says now and then that it is time to look: taking the GIL is not free. The first time comes one interval after the
// first question, so that calls too short for one do not ask for the time.
class Interval {
 public:
  bool has_passed();

 private:
  std::chrono::steady_clock::time_point last_;
};

// A long loop that holds the GIL, in which Python code may run: lets the handlers of signals run now and then, and
// throws what they raise.
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

// The same where no Python code may run: true once Ctrl-C came. Then the loop ends, handle_ctrl_c() is called, and
// where that throws nothing the loop starts again.
class LongSilentLoop {
 public:
  bool is_interrupted() { return ++steps_ % kStepsBetween == 0 && look(); }

 private:
  static constexpr std::int64_t kStepsBetween = 256;
  bool look();

  std::int64_t steps_ = 0;
  Interval interval_;
};

// Learns which thread Python handles signals on. Called once, at import.
void learn_main_thread();

// One operation's test for signals. When a handler raises (Ctrl-C's raises KeyboardInterrupt) the test says true, and
// the exception is left for check() and unwrap() to throw.
class Interruption {
 public:
  Interruption();
  Interruption(const Interruption&) = delete;
  Interruption& operator=(const Interruption&) = delete;

  // Null on threads that handle no signals.
  const CancelledTest* test() const { return test_ ? &test_ : nullptr; }

 private:
  bool happened();

  std::atomic<bool> happened_ = false;
  Interval interval_;
  CancelledTest test_;
};

// The same for containers, of which a GradBuffer is locked while it works, so no handler may run meanwhile: one that
// used the container would wait for ever. Ctrl-C ends the call, which has then changed nothing; the handler runs after
// it, and where it does not raise the call is made again, as often as Ctrl-C comes. Other signals wait for the end of
// the call. (GradBuffer.write may have changed the buffer; made again it gives the same.)

// For the options of containers. True once, when Ctrl-C came during a call through interruptible().
const CancelledTest* ctrl_c_test();

// While it lives, ctrl_c_test() looks for Ctrl-C.
class CtrlCWatch {
 public:
  CtrlCWatch();
  ~CtrlCWatch();
  CtrlCWatch(const CtrlCWatch&) = delete;
  CtrlCWatch& operator=(const CtrlCWatch&) = delete;

 private:
  Interval interval_;
};

// Runs the handler of a Ctrl-C that ctrl_c_test() or a LongSilentLoop found. Throws what it raises.
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
