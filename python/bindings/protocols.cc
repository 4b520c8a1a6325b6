#include "bindings/protocols.h"

#include "bindings/objects.h"
#include "bindings/package.h"

namespace backslice::python {

nb::object array_as(const nb::object& array, nb::handle dtype, nb::handle copy) {
  return call_with(registered("array_as"), nb::make_tuple(array, dtype, copy));
}

nb::object dlpack_of(const nb::object& array, const nb::kwargs& options) {
  const nb::object exports = attribute(array, "__dlpack__"), none = nb::make_tuple();
  return checked([&] { return PyObject_Call(exports.ptr(), none.ptr(), options.ptr()); });
}

nb::object dlpack_device_of(const nb::object& array) { return call(attribute(array, "__dlpack_device__")); }

nb::object reduced(nb::handle self) { return call(registered("reduced"), self); }

}  // namespace backslice::python
