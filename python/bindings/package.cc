#include "bindings/package.h"

#include "bindings/module.h"

namespace backslice::python {
namespace {

namespace nb = nanobind;

// Lives as long as the process: exceptions are raised until the interpreter is gone.
PyObject* known = nullptr;

void register_objects(nb::handle objects) {
  if (PyDict_Update(known, objects.ptr()) != 0) nb::raise_python_error();
}

}  // namespace

nb::object registered(const char* name) {
  nb::object found = nb::steal(PyMapping_GetItemString(known, name));
  if (found.is_valid()) return found;
  PyErr_Format(PyExc_RuntimeError, "backslice is not imported completely: nothing is registered as %s", name);
  nb::raise_python_error();
}

nb::object evaluated(const char* code) {
  const nb::object value = nb::steal(PyRun_String(code, Py_eval_input, known, known));
  if (!value.is_valid()) nb::raise_python_error();
  return value;
}

void bind_registration(nb::module_& m) {
  known = PyDict_New();
  if (known == nullptr) nb::raise_python_error();
  m.def("_register", register_objects);
}

}  // namespace backslice::python
