// Gives Python's lock up for a call of the library that now and then runs Python code, in the same thread.
#pragma once

#include "bindings/gil.h"

namespace backslice::python {

class GilLoan {
 public:
  GilLoan() { give_up(); }
  ~GilLoan() { take_back(); }
  GilLoan(const GilLoan&) = delete;
  GilLoan& operator=(const GilLoan&) = delete;

  // Runs `body` with the lock, in the thread that gave it up. The body may interrupt the loan, too.
  template <class Body>
  auto interrupt(const Body& body) {
    if (is_held_) return body();
    take_back();
    struct GiveUpAgain {
      GilLoan& loan;
      ~GiveUpAgain() { loan.give_up(); }
    } const again{*this};
    return body();
  }

 private:
  void give_up() {
    is_held_ = false;
    state_ = PyEval_SaveThread();
  }
  void take_back() {
    call_python([this] { PyEval_RestoreThread(state_); });
    is_held_ = true;
  }

  PyThreadState* state_ = nullptr;
  bool is_held_ = true;  // asked only by the thread that gives it up
};

}  // namespace backslice::python
