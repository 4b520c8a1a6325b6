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
#include "bindings/signatures.h"

namespace backslice::python {
namespace {

class PyContainer {
 public:
  PyTensorArray create(const Making& making) {
    TensorArray array = making.make([&](const auto&... arguments) { return container_.make(arguments...); });
    try {
      const nb::ft_lock_guard lock(mutex_);
      types_[array.name()] = making.type;  // a new name
    } catch (...) {
      (void)container_.remove(array.name());
      throw;
    }
    return {std::move(array), making.type};
  }
  nb::object find(nb::handle name) {
    const std::string text(read_str(name, "name"));
    const auto found = unwrap(without_gil([&] { return container_.find(text); }));
    const auto type = type_of(text.substr(0, text.find('@')));  // a gradient has its forward array's type
    if (!found || type == nullptr) return nb::none();
    return nb::cast(PyTensorArray(*found, type));
  }
  bool remove(nb::handle name) {
    const std::string text(read_str(name, "name"));
    const auto type = extract_type(text);
    return unwrap(without_gil([&] { return container_.remove(text); }));
  }
  std::vector<std::string> names() const {
    return unwrap(without_gil([&] { return container_.names(); }));
  }

 private:
  using Types = std::map<std::string, std::shared_ptr<ArrayType>>;

  std::shared_ptr<ArrayType> type_of(const std::string& name) const {
    const nb::ft_lock_guard lock(mutex_);
    const auto found = types_.find(name);
    return found == types_.end() ? nullptr : found->second;
  }
  // The caller drops it, without the lock: dropping may run Python code.
  Types::node_type extract_type(const std::string& name) {
    const nb::ft_lock_guard lock(mutex_);
    return types_.extract(name);
  }

  TensorArrayContainer container_;
  Types types_;
  mutable nb::ft_mutex mutex_;  // guards the types, as the GIL does in other builds
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
  nb::class_<Array>(m, "TensorArray", class_doc("TensorArray"))
      .def("__init__",
           [](Array* self, nb::handle size, nb::handle dtype, nb::handle element_shape, nb::handle dynamic_size,
              nb::handle clear_after_read, nb::handle identical_element_shapes, nb::handle name, nb::handle contiguous,
              nb::handle device) {
             const Making making(size, dtype, element_shape, dynamic_size, clear_after_read, identical_element_shapes,
                                 name, contiguous, device);
             const auto make = [](const auto&... arguments) { return TensorArray::make(arguments...); };
             new (self) Array(making.make(make), making.type);
           })
      .def("write", &Array::write)
      .def("read", &Array::read)
      .def("gather", &Array::gather)
      .def("scatter", &Array::scatter)
      .def("stack", &Array::stack)
      .def("unstack", &Array::unstack)
      .def("concat", &Array::concat)
      .def("split", &Array::split)
      .def("size", &Array::size)
      .def("close", &Array::close)
      .def("grad", [](Array& self, nb::handle source) { return self.grad_with_shape(source, nb::make_tuple()); })
      .def("grad_with_shape", &Array::grad_with_shape)
      .def_prop_ro("dtype", &Array::dtype)
      .def_prop_ro("name", &Array::name)
      .def_prop_ro("element_shape", &Array::element_shape)
      .def_prop_ro("device", &Array::device)
      .def("__array__",
           [](nb::handle, nb::handle, nb::handle) {
             raise_dtype_error("a TensorArray is not one array: use .stack() or .concat()");
           })
      .def("__repr__", &Array::repr)
      .def("_contents", &Array::contents)
      .def_static("_restore", &Array::restore)
      .def("__reduce__", reduced)
      .def("__eq__",
           [](const Array& a, nb::handle b) {
             const auto* other = find_instance<Array>(b);
             return other != nullptr && a.array() == other->array();
           })
      .def("__hash__", [](const Array& a) { return std::hash<std::string>()(a.name()); });
  nb::class_<PyContainer>(m, "TensorArrayContainer", class_doc("TensorArrayContainer"))
      .def(nb::init<>())
      .def("create",
           [](PyContainer& self, nb::handle size, nb::handle dtype, nb::handle element_shape, nb::handle dynamic_size,
              nb::handle clear_after_read, nb::handle identical_element_shapes, nb::handle name, nb::handle contiguous,
              nb::handle device) {
             return self.create({size, dtype, element_shape, dynamic_size, clear_after_read, identical_element_shapes,
                                 name, contiguous, device});
           })
      .def("find", &PyContainer::find)
      .def("remove", &PyContainer::remove)
      .def("names", &PyContainer::names)
      .def("__reduce__", reduced);
  m.def("tensor_array_grad_with_shape", py_tensor_array_grad_with_shape);
}

}  // namespace backslice::python
