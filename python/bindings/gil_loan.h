// Gives Python's lock up for a call of the library that now and then runs Python code, in the same thread.
#pragma once

#include "bindings/gil.h"

namespace backslice::python {

class GilLoan {
 public:
  GilLoan() : state_(PyEval_SaveThread()) {}
  ~GilLoan() { take_back(); }
  GilLoan(const GilLoan&) = delete;
  GilLoan& operator=(const GilLoan&) = delete;

  // Runs `body` with the lock, in the thread that gave it up.
  template <class Body>
  auto interrupt(const Body& body) {
    take_back();
    struct GiveUpAgain {
      GilLoan& loan;
      ~GiveUpAgain() { loan.state_ = PyEval_SaveThread(); }
    } const again{*this};
    return body();
  }

 private:
  void take_back() {
    call_python([this] { PyEval_RestoreThread(state_); });
  }

  PyThreadState* state_;
};

}  // namespace backslice::python
