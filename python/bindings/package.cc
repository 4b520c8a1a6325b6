#include "bindings/package.h"

#include "bindings/module.h"

namespace backslice::python {
namespace {

namespace nb = nanobind;

// Lives as long as the process: exceptions are raised until the interpreter is gone.
PyObject* known = nullptr;

void register_objects(nb::handle objects) {
  if (known == nullptr) known = PyDict_New();
  if (known == nullptr || PyDict_Update(known, objects.ptr()) != 0) nb::raise_python_error();
}

}  // namespace

nb::object registered(const char* name) {
  PyObject* found = known == nullptr ? nullptr : PyDict_GetItemString(known, name);
  if (found != nullptr) return nb::borrow(found);
  PyErr_Format(PyExc_RuntimeError, "backslice is not imported completely: nothing is registered as %s", name);
  nb::raise_python_error();
}

void bind_registration(nb::module_& m) { m.def("_register", register_objects); }

}  // namespace backslice::python
