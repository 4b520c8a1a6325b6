#include "bindings/gil.h"

#include <cxxabi.h>
#include <unistd.h>

namespace backslice::python {
namespace {

// Runs `take`, which asks for the lock, and holds on to the thread when that ends it.
template <class Take>
auto asking_for_gil(const Take& take) {
#if defined(__GLIBCXX__) && PY_VERSION_HEX < 0x030E0000
  try {
    return take();
  } catch (abi::__forced_unwind&) {
    for (;;) pause();  // leaving the handler would go on with the unwinding, or abort
  }
#else
  return take();
#endif
}

bool is_finalizing() {
#if PY_VERSION_HEX >= 0x030D0000
  return Py_IsFinalizing() != 0;
#else
  return _Py_IsFinalizing() != 0;
#endif
}

}  // namespace

void retake_gil(PyThreadState* state) noexcept {
  asking_for_gil([state] { PyEval_RestoreThread(state); });
}

void release_with_gil(void (*release)(void*) noexcept, void* object) noexcept {
  if (Py_IsInitialized() == 0) return;
  if (PyGILState_Check() != 0) return release(object);
  if (is_finalizing()) return;
  const PyGILState_STATE state = asking_for_gil([] { return PyGILState_Ensure(); });
  release(object);
  PyGILState_Release(state);
}

}  // namespace backslice::python
