#include "bindings/gil.h"

#include <unistd.h>

namespace backslice::python {
namespace {

bool is_finalizing() {
#if PY_VERSION_HEX >= 0x030D0000
  return Py_IsFinalizing() != 0;
#else
  return _Py_IsFinalizing() != 0;
#endif
}

}  // namespace

void sleep_until_the_process_ends() noexcept {
  for (;;) pause();
}

void release_with_gil(void (*release)(void*), void* object) noexcept {
  if (Py_IsInitialized() == 0) return;
  if (PyGILState_Check() != 0) return release(object);
  if (is_finalizing()) return;
  const GilHeld held;
  release(object);
}

}  // namespace backslice::python
