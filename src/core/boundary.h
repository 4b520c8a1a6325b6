// The boundary where exceptions become error values.
//
// Inside the library memory may run out, the standard library may throw, and an operation may be ended from deep within
// (StatusException). Every public function that returns a Status or a Result goes through without_throwing(), the one
// place where all of that stops.
#pragma once

#include <utility>

#include "backslice/status.h"

namespace backslice {

// Thrown inside to end an operation with this error.
class StatusException {
 public:
  explicit StatusException(Status status) : status_(std::move(status)) {}
  const Status& status() const { return status_; }

 private:
  Status status_;
};

// Precondition: called while an exception is handled. Needs no memory where there is none.
Status status_of_current_exception() noexcept;

// Runs `body`, which returns a Status or a Result, and turns whatever it throws into one.
template <class Body>
auto without_throwing(Body&& body) noexcept -> decltype(body()) {
  try {
    return body();
  } catch (...) {
    return status_of_current_exception();
  }
}

}  // namespace backslice
