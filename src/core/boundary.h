// The boundary where exceptions become error values.
//
// Inside the library memory may run out, the standard library may throw, and an operation may be ended from deep within
// (StatusException). Every public function that returns a Status or a Result goes through without_throwing(), the one
// place where all of that stops.
#pragma once

#include <exception>
#include <utility>

#include "backslice/result.h"
#include "backslice/status.h"

namespace backslice {

// Thrown inside to end an operation with this error.
class StatusException : public std::exception {
 public:
  explicit StatusException(Status status) : status_(std::move(status)) {}
  const Status& status() const { return status_; }
  const char* what() const noexcept override { return status_.message().c_str(); }

 private:
  Status status_;
};

// For code that a body of without_throwing() calls, however deep: a namespace brings them in by name.
namespace throwing {

// Ends the operation with this error.
[[noreturn]] inline void refuse(Status status) { throw StatusException(std::move(status)); }

// The value of a result; ends the operation where there is none.
template <class T>
T unwrap(Result<T>&& result) {
  if (!result.ok()) refuse(std::move(result).status());
  return *std::move(result);
}

}  // namespace throwing

// The first exception of a thread needs memory, and where there is none for it the process ends. So what might throw on
// this thread later takes that memory now.
inline void be_ready_to_throw() noexcept { (void)std::uncaught_exceptions(); }

// Precondition: called while an exception is handled. Needs no memory where there is none.
Status status_of_current_exception() noexcept;

// The same of a callback of the user's, which the message names: "the allocator threw an exception: ...".
Status status_of_current_exception_in(const char* callback) noexcept;

// Calls a callback of the user's. What it throws becomes a StatusException that names it; a StatusException stays.
template <class Callback>
auto calling(const char* name, const Callback& callback) -> decltype(callback()) {
  try {
    return callback();
  } catch (const StatusException&) {
    throw;
  } catch (...) {
    throw StatusException(status_of_current_exception_in(name));
  }
}

// Runs `body`, which returns a Status or a Result, and turns whatever it throws into one.
template <class Body>
auto without_throwing(Body&& body) noexcept -> decltype(body()) {
  be_ready_to_throw();
  try {
    return body();
  } catch (...) {
    return status_of_current_exception();
  }
}

}  // namespace backslice
