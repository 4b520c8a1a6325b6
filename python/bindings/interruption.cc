#include "bindings/interruption.h"

#include "bindings/objects.h"

namespace backslice::python {
namespace {

unsigned long main_thread = 0;

bool is_main_thread() { return PyThread_get_thread_ident() == main_thread; }

// Runs the handlers of signals that came since. True where one raised.
bool handle_signals() {
  const PyGILState_STATE state = call_python([] { return PyGILState_Ensure(); });
  const bool raised = call_python([] { return PyErr_CheckSignals(); }) != 0;
  PyGILState_Release(state);
  return raised;
}

}  // namespace

void learn_main_thread() {
  const nb::object thread = call(attribute(nb::module_::import_("threading"), "main_thread"));
  main_thread = nb::cast<unsigned long>(attribute(thread, "ident"));
}

Interruption::Interruption() {
  if (is_main_thread()) test_ = [this] { return happened(); };
}

// Asked on every thread of the operation; only the one that called it can
// handle signals. While that one holds the GIL the operation moves Python
// objects, and no Python code may run.
bool Interruption::happened() {
  if (happened_) return true;
  if (is_main_thread() && PyGILState_Check() == 0 && is_time() && handle_signals()) happened_ = true;
  return happened_;
}

// Taking the GIL is not free: often enough for a person to wait.
bool Interruption::is_time() {
  constexpr std::chrono::milliseconds kInterval{50};
  const auto now = std::chrono::steady_clock::now();
  const bool is_first = next_ == std::chrono::steady_clock::time_point{};
  if (!is_first && now < next_) return false;
  next_ = now + kInterval;
  return !is_first;
}

}  // namespace backslice::python
