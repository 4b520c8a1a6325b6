// The class RaggedTensor.
#include <nanobind/nanobind.h>
#include <nanobind/stl/string.h>

#include "bindings/module.h"
#include "bindings/objects.h"
#include "bindings/package.h"
#include "bindings/protocols.h"
#include "bindings/py_ragged.h"
#include "bindings/signatures.h"

namespace backslice::python {

void bind_ragged_tensors(nb::module_& m) {
  nb::class_<PyRagged>(m, "RaggedTensor", class_doc("RaggedTensor"))
      .def("__init__",
           [](PyRagged* self, nb::handle values, nb::handle nested_row_splits) {
             new (self) PyRagged(PyRagged::make(values, nested_row_splits));
           })
      .def_static("from_row_lengths",
                  [](nb::handle values, nb::handle lengths) {
                    const nb::object arguments = nb::make_tuple(values) + lengths;
                    return call_with(registered("from_row_lengths"), arguments);
                  })
      .def_static("from_list",
                  [](nb::handle rows, nb::handle dtype, nb::handle ragged_rank) {
                    const nb::tuple arguments = nb::make_tuple(rows, dtype, ragged_rank);
                    return call_with(registered("from_list"), arguments);
                  })
      .def_prop_ro("values", &PyRagged::values)
      .def_prop_ro("nested_row_splits", &PyRagged::nested_row_splits)
      .def_prop_ro("ragged_rank", [](const PyRagged& self) { return self.rt().ragged_rank(); })
      .def_prop_ro("shape", &PyRagged::shape)
      .def_prop_ro("dtype", [](const PyRagged& self) { return self.type().numpy; })
      .def_prop_ro("device", &PyRagged::device)
      .def("cpu", &PyRagged::cpu)
      .def("to_list", &PyRagged::to_list)
      .def("slice_grad", &PyRagged::slice_grad)
      .def("__len__", &PyRagged::size)
      .def("__getitem__", &PyRagged::get)
      .def("__eq__", &PyRagged::equals)
      .def("__array__",
           [](const PyRagged& self, nb::handle dtype, nb::handle copy) { return array_as(self.array(), dtype, copy); })
      .def("__dlpack__", [](const PyRagged& self,
                            nb::handle options) { return dlpack_of(self.array(), nb::borrow<nb::kwargs>(options)); })
      .def("__dlpack_device__", [](const PyRagged& self) { return dlpack_device_of(self.array()); })
      .def("__reduce__", reduced)
      .def("_repr_svg_", [](nb::handle self) { return picture_of(self, "svg"); })
      .def("_repr_html_", [](nb::handle self) { return picture_of(self, "html"); })
      .def("__repr__", &PyRagged::repr)
      .attr("__hash__") = nb::none();  // as Python sets it for classes with an __eq__
  bind_variant_arrays(m);
}

}  // namespace backslice::python
