#include "bindings/objects.h"

#include "bindings/errors.h"
#include "bindings/numpy_api.h"

namespace backslice::python {

nb::object attribute(nb::handle object, const char* name) {
  return checked([&] { return PyObject_GetAttrString(object.ptr(), name); });
}

nb::object find_attribute(nb::handle object, const char* name) {
  nb::object found = nb::steal(call_python([&] { return PyObject_GetAttrString(object.ptr(), name); }));
  if (found.is_valid()) return found;
  if (PyErr_ExceptionMatches(PyExc_AttributeError) != 0) {
    PyErr_Clear();
  } else {
    pass_on_unless_ordinary(nb::python_error());
  }
  return {};
}

nb::object call(nb::handle callable) {
  return checked([&] { return PyObject_CallNoArgs(callable.ptr()); });
}

nb::object call(nb::handle callable, nb::handle argument) {
  return checked([&] { return PyObject_CallOneArg(callable.ptr(), argument.ptr()); });
}

nb::object call_with(nb::handle callable, nb::handle arguments) {
  return checked([&] { return PyObject_CallObject(callable.ptr(), arguments.ptr()); });
}

nb::object imported(const char* name) {
  return checked([&] { return PyImport_ImportModule(name); });
}

nb::object items_of(nb::handle sequence) {
  return checked([&] { return PySequence_Tuple(sequence.ptr()); });
}

void NewList::append(nb::handle item) {
  if (call_python([&] { return PyList_Append(list_.ptr(), item.ptr()); }) != 0) nb::raise_python_error();
}

nb::tuple NewList::tuple() const { return nb::borrow<nb::tuple>(items_of(list_)); }

bool is_masked_array(nb::handle object) {
  if (!PyArray_Check(object.ptr()) || PyArray_CheckExact(object.ptr())) return false;
  // If the module is not imported, there are none.
  const nb::object name = new_str("numpy.ma");
  const nb::object module = nb::steal(call_python([&] { return PyImport_GetModule(name.ptr()); }));
  if (!module.is_valid()) {
    if (PyErr_Occurred() != nullptr) nb::raise_python_error();
    return false;
  }
  const nb::object type = attribute(module, "MaskedArray");
  return PyType_Check(type.ptr()) && PyObject_TypeCheck(object.ptr(), reinterpret_cast<PyTypeObject*>(type.ptr()));
}

nb::object as_numpy_array(nb::handle object) {
  return checked([&] { return PyArray_FROM_O(object.ptr()); });
}

}  // namespace backslice::python
