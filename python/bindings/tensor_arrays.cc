// TensorArray and its container.
#include <nanobind/nanobind.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <map>

#include "backslice/tensor_array_container.h"
#include "bindings/arguments.h"
#include "bindings/array_argument.h"
#include "bindings/errors.h"
#include "bindings/instances.h"
#include "bindings/module.h"
#include "bindings/protocols.h"
#include "bindings/py_tensor_array.h"

namespace backslice::python {
namespace {

class PyContainer {
 public:
  PyTensorArray create(const Making& making) {
    TensorArray array =
        unwrap(without_gil([&] { return container_.make(making.size, making.dtype(), making.options); }));
    try {
      types_[array.name()] = making.type;
    } catch (...) {
      container_.remove(array.name());
      throw;
    }
    return {std::move(array), making.type};
  }
  nb::object find(nb::handle name) {
    const std::string text(read_str(name, "name"));
    const auto found = without_gil([&] { return container_.find(text); });
    const auto type = types_.find(text.substr(0, text.find('@')));  // a gradient has its forward array's
    if (!found || type == types_.end()) return nb::none();
    return nb::cast(PyTensorArray(*found, type->second));
  }
  bool remove(nb::handle name) {
    const std::string text(read_str(name, "name"));
    types_.erase(text);
    return without_gil([&] { return container_.remove(text); });
  }
  std::vector<std::string> names() const {
    return without_gil([&] { return container_.names(); });
  }

 private:
  TensorArrayContainer container_;
  std::map<std::string, std::shared_ptr<ArrayType>> types_;  // guarded by the GIL
};

nb::tuple py_tensor_array_grad_with_shape(nb::handle handle, nb::handle flow_in, nb::handle shape_to_prepend,
                                          nb::handle source) {
  auto* array = find_instance<PyTensorArray>(handle);
  if (array == nullptr) raise_dtype_error("handle is a " + type_text(handle) + ", expected a TensorArray");
  const InputArray flow = ArrayArgument(flow_in, "flow_in").view();
  if (flow.view.shape().rank() != 0) {
    raise_invalid_argument("flow_in must be a float32 scalar, got shape " + to_string(Ints(flow.view.shape())));
  }
  const nb::object flow_out = call(attribute(imported("numpy"), "float32"), nb::int_(0));
  return nb::make_tuple(array->grad_with_shape(source, shape_to_prepend), flow_out);
}

}  // namespace

void bind_tensor_arrays(nb::module_& m) {
  using Array = PyTensorArray;
  nb::class_<Array>(m, "TensorArray", "A list of tensors that is written and read by index, with gradients.")
      .def(
          "__init__",
          [](Array* self, nb::handle size, nb::handle dtype, nb::handle element_shape, nb::handle dynamic_size,
             nb::handle clear_after_read, nb::handle identical_element_shapes, nb::handle name, nb::handle contiguous) {
            const Making making(size, dtype, element_shape, dynamic_size, clear_after_read, identical_element_shapes,
                                name, contiguous);
            new (self) Array(unwrap(TensorArray::make(making.size, making.dtype(), making.options)), making.type);
          },
          any("size"), any("dtype"), any("element_shape") = nb::none(), any("dynamic_size") = false,
          any("clear_after_read") = true, any("identical_element_shapes") = false, any("name") = "", nb::kw_only(),
          any("contiguous") = false)
      .def("write", &Array::write, any("index"), any("value"), any("copy") = true,
           "Writes an element: once for a forward array, summed for a gradient.\n"
           "With copy=False the memory is held, and must not be changed.")
      .def("read", &Array::read, any("index"), nb::kw_only(), any("out") = nb::none(),
           "Reads an element, as a new array or into out; zeros where none was written and the shape is known.")
      .def("gather", &Array::gather, any("indices"), any("element_shape") = nb::none(), nb::kw_only(),
           any("out") = nb::none(), "Reads many elements into one array.")
      .def("scatter", &Array::scatter, any("indices"), any("value"), any("copy") = true,
           "Writes row i of the value to indices[i].")
      .def("stack", &Array::stack, nb::kw_only(), any("out") = nb::none(), "Reads all elements into one array.")
      .def("unstack", &Array::unstack, any("value"), any("copy") = true, "Writes row i of the value to index i.")
      .def("concat", &Array::concat, any("element_shape_except0") = nb::none(), nb::kw_only(), any("out") = nb::none(),
           "Reads all elements, joined along their first axis: (value, lengths).")
      .def("split", &Array::split, any("value"), any("lengths"), any("copy") = true,
           "Writes the first lengths[0] rows to index 0, and so on.")
      .def("size", &Array::size, "How many elements there are.")
      .def("close", &Array::close, "Lets go of everything.")
      .def(
          "grad", [](Array& self, nb::handle source) { return self.grad_with_shape(source, nb::make_tuple()); },
          any("source"), "The gradient array of that source; the same one each time.")
      .def("grad_with_shape", &Array::grad_with_shape, any("source"), any("shape_to_prepend"),
           "TensorFlow's TensorArrayGradWithShape: elements have shape_to_prepend before their shape.")
      .def_prop_ro("dtype", &Array::dtype, "The NumPy dtype.")
      .def_prop_ro("name", &Array::name, "The name; name@source for gradients.")
      .def_prop_ro("element_shape", &Array::element_shape, "What is known of the elements' shape, None for nothing.")
      .def("__repr__", &Array::repr)
      .def("_contents", &Array::contents)
      .def_static("_restore", &Array::restore, any("contents"))
      .def("__reduce__", reduced)
      .def(
          "__eq__",
          [](const Array& a, nb::handle b) {
            const auto* other = find_instance<Array>(b);
            return other != nullptr && a.array() == other->array();
          },
          any("other"))
      .def("__hash__", [](const Array& a) { return std::hash<std::string>()(a.name()); });
  nb::class_<PyContainer>(m, "TensorArrayContainer", "Names for tensor arrays, for those who want to look them up.")
      .def(nb::init<>())
      .def(
          "create",
          [](PyContainer& self, nb::handle size, nb::handle dtype, nb::handle element_shape, nb::handle dynamic_size,
             nb::handle clear_after_read, nb::handle identical_element_shapes, nb::handle name, nb::handle contiguous) {
            return self.create({size, dtype, element_shape, dynamic_size, clear_after_read, identical_element_shapes,
                                name, contiguous});
          },
          any("size"), any("dtype"), any("element_shape") = nb::none(), any("dynamic_size") = false,
          any("clear_after_read") = true, any("identical_element_shapes") = false, any("name") = "", nb::kw_only(),
          any("contiguous") = false, "Makes an array and keeps it under its name with a number: 'steps_0'.")
      .def("find", &PyContainer::find, any("name"), "The array of that name, or 'name@source' for a gradient; or None.")
      .def("remove", &PyContainer::remove, any("name"), "Lets go of an array; False if there is none of that name.")
      .def("names", &PyContainer::names, "The names of the forward arrays, sorted.")
      .def("__reduce__", reduced);
  m.def("tensor_array_grad_with_shape", py_tensor_array_grad_with_shape, any("handle"), any("flow_in"),
        any("shape_to_prepend"), any("source"),
        "TensorFlow's TensorArrayGradWithShape: (grad_handle, flow_out). The flow is of no use here and is 0.");
}

}  // namespace backslice::python
