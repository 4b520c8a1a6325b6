// The only ways in which this module gives up Python's global lock and takes it back.
//
// In free-threaded builds of Python there is no such lock, and these functions say whether this thread may use Python's
// objects. Then nothing keeps threads from running the same code at once: data that they share has a lock of its own,
// nb::ft_mutex, which other builds do not have. No code of Python's runs while one is held.
//
// Before Python 3.14 a thread that asks for the lock while the interpreter shuts down is ended by pthread_exit, which
// unwinds the stack through C++ frames that must not be unwound: destructors that drop references without the lock,
// functions that may not throw, handlers that catch everything. Such a thread has nothing left to do, so it sleeps
// until the process ends, which is what Python 3.14 does itself.
//
// Python code gives the lock up and asks for it again at any time. So functions of Python that may run code of users
// are called through call_python, with nothing in between that would have to be destroyed.
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
// Calls what may ask for the lock, and holds on to the thread when that ends it.
template <class Call>
auto call_python(const Call& call) {
  try {
    return call();
  } catch (abi::__forced_unwind&) {
    sleep_until_the_process_ends();  // leaving the handler would go on with the unwinding, or abort
  }
}
#else
// libc++ has no name for what ends a thread. It runs destructors while nothing is thrown.
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

// Gives the lock up as long as it lives.
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

// Holds the lock as long as it lives, on any thread. It may hold it already.
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

// Calls release(object) with the lock held, from any thread, at any time. When the interpreter is shutting down or gone
// and this thread does not hold the lock, the object is left to the end of the process.
void release_with_gil(void (*release)(void*), void* object) noexcept;

// Gives a reference back, and runs what code that starts. For destructors, which nothing may be thrown through.
inline void drop(PyObject* reference) noexcept {
  call_python([reference] { Py_XDECREF(reference); });
}

}  // namespace backslice::python
