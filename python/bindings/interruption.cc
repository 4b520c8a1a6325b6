#include "bindings/interruption.h"

#include "bindings/objects.h"

namespace backslice::python {
namespace {

unsigned long main_thread = 0;

bool is_main_thread() { return PyThread_get_thread_ident() == main_thread; }

template <class Body>
bool with_gil(const Body& body) {
  const GilHeld held;
  return call_python(body) != 0;
}

// The interruptible() call that the main thread is in.
Interval* watched_interval = nullptr;

bool ctrl_c_came() {
  if (!is_main_thread() || watched_interval == nullptr || PyGILState_Check() != 0) return false;
  return watched_interval->has_passed() && with_gil([] { return PyOS_InterruptOccurred(); });
}

}  // namespace

void learn_main_thread() {
  const nb::object thread = call(attribute(nb::module_::import_("threading"), "main_thread"));
  main_thread = nb::cast<unsigned long>(attribute(thread, "ident"));
}

Interruption::Interruption()
    : test_(is_main_thread() ? CancelledTest([this] { return happened(); }) : CancelledTest()) {}

// Called on every thread of the operation; only the calling thread can handle signals. While that thread holds the GIL,
// the operation moves Python objects, and no Python code may run.
bool Interruption::happened() {
  if (happened_) return true;
  if (!is_main_thread() || PyGILState_Check() != 0 || !interval_.has_passed()) return false;
  // runs the handlers; not 0 if one raised
  if (with_gil([] { return PyErr_CheckSignals(); })) happened_ = true;
  return happened_;
}

// Often enough for a person to wait.
bool Interval::has_passed() {
  constexpr std::chrono::milliseconds kInterval{50};
  const auto now = std::chrono::steady_clock::now();
  if (now - last_ < kInterval) return false;
  const bool asked_before = last_ != std::chrono::steady_clock::time_point();
  last_ = now;
  return asked_before;
}

void LongLoop::look() {
  if (!is_main_thread() || !interval_.has_passed()) return;
  if (call_python([] { return PyErr_CheckSignals(); }) != 0) nb::raise_python_error();
}

bool LongSilentLoop::look() { return is_main_thread() && interval_.has_passed() && PyOS_InterruptOccurred() != 0; }

const CancelledTest* ctrl_c_test() {
  static const CancelledTest test = ctrl_c_came;
  return &test;
}

CtrlCWatch::CtrlCWatch() {
  if (is_main_thread()) watched_interval = &interval_;
}

CtrlCWatch::~CtrlCWatch() {
  if (is_main_thread()) watched_interval = nullptr;
}

void handle_ctrl_c() {
  PyErr_SetInterrupt();  // the check has cleared it
  if (call_python([] { return PyErr_CheckSignals(); }) != 0) nb::raise_python_error();
}

}  // namespace backslice::python
