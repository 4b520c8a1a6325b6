// All releases and acquisitions of Python's global lock in this module.
//
// In free-threaded builds of Python there is no such lock. There, these functions say whether this thread may use
// Python's objects. Several threads may then run the same code at once: data that they share has a lock of its own,
// nb::ft_mutex, which other builds do not have. No Python code runs while one is held.
//
// Before Python 3.14, a thread that requests the lock during interpreter shutdown is ended by pthread_exit. That
// unwinds the stack through C++ frames that must not be unwound: destructors that drop references without the lock,
// noexcept functions, handlers that catch everything. Such a thread has nothing left to do, so it sleeps until the
// process ends, as Python 3.14 does itself.
//
// Python code releases and acquires the lock at any time. So Python functions that may run users' code are called
// through call_python, with no objects in between that would have to be destroyed.
#pragma once

#include <Python.h>
#include <cxxabi.h>

#include <exception>
#include <type_traits>
#include <utility>

namespace backslice::python {

[[noreturn]] void sleep_until_the_process_ends() noexcept;

#if PY_VERSION_HEX >= 0x030E0000
template <class Call>
auto call_python(const Call& call) {
  return call();
}
#elif defined(__GLIBCXX__)
// Calls a function that may request the lock, and keeps the thread if Python ends it.
template <class Call>
auto call_python(const Call& call) {
  try {
    return call();
  } catch (abi::__forced_unwind&) {
    sleep_until_the_process_ends();  // leaving the handler would continue the unwinding, or abort
  }
}
#else
// libc++ has no type for a forced unwind. It runs destructors while no exception is in flight.
class EndedThreadTrap {
 public:
  EndedThreadTrap() = default;
  ~EndedThreadTrap() {
    if (!returned_ && std::uncaught_exceptions() == exceptions_) sleep_until_the_process_ends();
  }
  EndedThreadTrap(const EndedThreadTrap&) = delete;
  EndedThreadTrap& operator=(const EndedThreadTrap&) = delete;

  void returned() { returned_ = true; }

 private:
  int exceptions_ = std::uncaught_exceptions();
  bool returned_ = false;
};

template <class Call>
auto call_python(const Call& call) {
  EndedThreadTrap trap;
  if constexpr (std::is_void_v<decltype(call())>) {
    call();
    trap.returned();
  } else {
    auto result = call();
    trap.returned();
    return result;
  }
}
#endif

// Releases the lock for its lifetime.
class GilReleased {
 public:
  GilReleased() : state_(PyEval_SaveThread()) {}
  ~GilReleased() {
    call_python([this] { PyEval_RestoreThread(state_); });
  }
  GilReleased(const GilReleased&) = delete;
  GilReleased& operator=(const GilReleased&) = delete;

 private:
  PyThreadState* state_;
};

// Holds the lock for its lifetime, on any thread. The thread may hold it already.
class GilHeld {
 public:
  GilHeld() : state_(call_python([] { return PyGILState_Ensure(); })) {}
  ~GilHeld() { PyGILState_Release(state_); }
  GilHeld(const GilHeld&) = delete;
  GilHeld& operator=(const GilHeld&) = delete;

 private:
  PyGILState_STATE state_;
};

// Runs `body` while other Python threads may run.
template <class Body>
auto without_gil(Body&& body) {
  const GilReleased released;
  return std::forward<Body>(body)();
}

// Calls release(object) with the lock held, from any thread, at any time. If the interpreter is shutting down or gone,
// and this thread does not hold the lock, the object stays until the process ends.
void release_with_gil(void (*release)(void*), void* object) noexcept;

// Drops a reference, and runs the code that this triggers. For destructors, which must not throw.
inline void drop(PyObject* reference) noexcept {
  call_python([reference] { Py_XDECREF(reference); });
}

}  // namespace backslice::python
