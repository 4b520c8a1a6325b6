// The class RaggedTensor.
#include <nanobind/nanobind.h>
#include <nanobind/stl/string.h>

#include "bindings/module.h"
#include "bindings/objects.h"
#include "bindings/package.h"
#include "bindings/protocols.h"
#include "bindings/py_ragged.h"

namespace backslice::python {

void bind_ragged_tensors(nb::module_& m) {
  nb::class_<PyRagged>(m, "RaggedTensor", "Rows of different lengths, to any depth: values, and splits between rows.")
      .def(
          "__init__",
          [](PyRagged* self, nb::handle values, nb::handle nested_row_splits) {
            new (self) PyRagged(PyRagged::make(values, nested_row_splits));
          },
          any("values"), any("nested_row_splits"))
      .def_static(
          "from_row_lengths",
          [](nb::handle values, nb::args lengths) {
            const nb::object arguments = nb::make_tuple(values) + lengths;
            return call_with(registered("from_row_lengths"), arguments);
          },
          any("values"), nb::arg("nested_row_lengths"), "From the lengths of the rows, outermost list first.")
      .def_static(
          "from_list",
          [](nb::handle rows, nb::handle dtype, nb::handle ragged_rank) {
            const nb::tuple arguments = nb::make_tuple(rows, dtype, ragged_rank);
            return call_with(registered("from_list"), arguments);
          },
          any("rows"), any("dtype") = nb::none(), any("ragged_rank") = nb::none(), "From nested lists.")
      .def_prop_ro("values", &PyRagged::values, "The values, one after the other, as a read-only view.")
      .def_prop_ro("nested_row_splits", &PyRagged::nested_row_splits,
                   "The splits, from the outermost to the innermost: read-only views of the tensor's own copy.")
      .def_prop_ro(
          "ragged_rank", [](const PyRagged& self) { return self.rt().ragged_rank(); }, "How many lists of splits.")
      .def_prop_ro("shape", &PyRagged::shape, "The shape, None where rows differ.")
      .def_prop_ro(
          "dtype", [](const PyRagged& self) { return self.type().numpy; }, "The NumPy dtype of the values.")
      .def("to_list", &PyRagged::to_list, "The rows as nested lists.")
      .def("slice_grad", &PyRagged::slice_grad, any("index"), any("grad"), nb::kw_only(), any("out") = nb::none(),
           any("accumulate") = false, "The gradient of self[index] with respect to self.values.")
      .def("__len__", &PyRagged::size)
      .def("__getitem__", &PyRagged::get, any("index"))
      .def("__eq__", &PyRagged::equals, any("other"),
           "Whether the other is a RaggedTensor of the same dtype, rows and values, bit for bit: NaN equals the same "
           "NaN, and 0.0 differs from -0.0. Splits may be int32 in one and int64 in the other.")
      .def(
          "__array__",
          [](const PyRagged& self, nb::handle dtype, nb::handle copy) { return array_as(self.array(), dtype, copy); },
          any("dtype") = nb::none(), any("copy") = nb::none())
      .def("__dlpack__",
           [](const PyRagged& self, const nb::kwargs& options) { return dlpack_of(self.array(), options); })
      .def("__dlpack_device__", [](const PyRagged& self) { return dlpack_device_of(self.array()); })
      .def("__reduce__", reduced)
      .def("_repr_svg_", [](nb::handle self) { return picture_of(self, "svg"); })
      .def("_repr_html_", [](nb::handle self) { return picture_of(self, "html"); })
      .def("__repr__", &PyRagged::repr)
      .attr("__hash__") = nb::none();  // as Python has it for classes with an __eq__
  bind_variant_arrays(m);
}

}  // namespace backslice::python
