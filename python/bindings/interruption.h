// Ctrl-C during an operation: Python looks at signals only between its own
// instructions, so a long operation looks for it.
#pragma once

#include <atomic>
#include <chrono>

#include "backslice/executor.h"

namespace backslice::python {

// Learns which thread Python handles signals on. Called once, at import.
void learn_main_thread();

// One operation's test for signals. When a handler raises (Ctrl-C's raises
// KeyboardInterrupt) the test says true, and the exception is left for check()
// and unwrap() to throw.
class Interruption {
 public:
  Interruption();
  Interruption(const Interruption&) = delete;
  Interruption& operator=(const Interruption&) = delete;

  // Null on threads that handle no signals.
  const CancelledTest* test() const { return test_ ? &test_ : nullptr; }

 private:
  bool happened();
  bool is_time();

  std::atomic<bool> happened_ = false;
  std::chrono::steady_clock::time_point next_{};
  CancelledTest test_;
};

}  // namespace backslice::python
