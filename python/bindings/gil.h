// The only ways in which this module gives up Python's global lock and takes it back.
//
// Before Python 3.14 a thread that asks for the lock while the interpreter shuts down is ended by pthread_exit, which
// unwinds the stack through C++ frames that must not be unwound: destructors that drop references without the lock,
// functions that may not throw, handlers that catch everything. Such a thread has nothing left to do, so it sleeps until
// the process ends, which is what Python 3.14 does itself.
#pragma once

#include <Python.h>

#include <utility>

namespace backslice::python {

// Takes the lock back after PyEval_SaveThread. Returns only if the interpreter goes on.
void retake_gil(PyThreadState* state) noexcept;

class GilReleased {
 public:
  GilReleased() : state_(PyEval_SaveThread()) {}
  ~GilReleased() { retake_gil(state_); }
  GilReleased(const GilReleased&) = delete;
  GilReleased& operator=(const GilReleased&) = delete;

 private:
  PyThreadState* state_;
};

// Runs `body` while other Python threads may run.
template <class Body>
auto without_gil(Body&& body) {
  const GilReleased released;
  return std::forward<Body>(body)();
}

// Calls release(object) with the lock held, from any thread, at any time. When the interpreter is shutting down or gone
// and this thread does not hold the lock, the object is left to the end of the process.
void release_with_gil(void (*release)(void*) noexcept, void* object) noexcept;

}  // namespace backslice::python
