// The contents of a TensorArray as Python objects, and the inverse.
#include "bindings/py_tensor_array.h"

namespace backslice::python {
namespace {

nb::object flag(bool value) { return nb::borrow(value ? Py_True : Py_False); }

// Keeps str and bytes apart, which the dtype object does not.
nb::object dtype_of(const ArrayType& type) {
  const StringKind strings = type.strings();
  if (strings == StringKind::Str) return nb::borrow(reinterpret_cast<PyObject*>(&PyUnicode_Type));
  if (strings == StringKind::Bytes) return nb::borrow(reinterpret_cast<PyObject*>(&PyBytes_Type));
  return type.numpy;
}

nb::object value_of(const Tensor& tensor, const ArrayType& type) {
  if (type.element.is_object) return objects_from_strings(tensor, type.strings());
  return to_read_only_numpy(tensor, type.numpy);
}

Tensor tensor_of(nb::handle value, ArrayType& type) {
  const ArrayArgument input(value, "value");
  if (!same_dtype(input.numpy_dtype(), type.numpy)) {
    raise_dtype_error("value has dtype " + str_text(input.numpy_dtype()) + ", expected " + str_text(type.numpy) +
                      ", that of the array");
  }
  if (!type.element.is_object) return input.held();
  std::optional<Tensor> strings;
  type.write_strings(input.view(), [&](const Tensor& tensor) {
    strings = tensor;
    return Status();
  });
  return *strings;
}

nb::tuple read_tuple(nb::handle object, std::size_t size) {
  if (!PyTuple_Check(object.ptr()) || nb::len(object) != size) {
    raise_invalid_argument("contents has " + repr_text(object) + ", expected a tuple of " + std::to_string(size));
  }
  return nb::borrow<nb::tuple>(object);
}

TensorArrayContents::Element read_element(nb::handle object, ArrayType& type) {
  const nb::tuple parts = read_tuple(object, 6);
  TensorArrayContents::Element element;
  element.index = read_index(parts[0], "index");
  element.shape = unwrap(Shape::make(read_shape(parts[1], "shape")));
  if (!parts[2].is_none()) element.value = tensor_of(parts[2], type);
  element.written = read_flag(parts[3], "written");
  element.read = read_flag(parts[4], "read");
  element.cleared = read_flag(parts[5], "cleared");
  return element;
}

}  // namespace

nb::tuple PyTensorArray::contents() const {
  const Context context{.cancelled = cancelled()};
  const TensorArrayContents held = unwrap(interruptible([&] { return array_.contents(context); }));
  NewList elements;
  for (const TensorArrayContents::Element& element : held.elements) {
    const nb::object value = element.value ? value_of(*element.value, *type_) : nb::none();
    elements.append(nb::make_tuple(element.index, to_tuple(element.shape), value, flag(element.written),
                                   flag(element.read), flag(element.cleared)));
  }
  const TensorArrayOptions& options = held.options;
  const nb::tuple making =
      nb::make_tuple(held.size, dtype_of(*type_), partial_shape_to_python(options.element_shape),
                     flag(options.dynamic_size), flag(options.clear_after_read), flag(options.identical_element_shapes),
                     nb::str(options.name.c_str(), options.name.size()), flag(options.contiguous));
  return nb::make_tuple(making, flag(held.is_gradient), flag(held.all_read), elements.tuple());
}

PyTensorArray PyTensorArray::restore(nb::handle given) {
  const nb::tuple parts = read_tuple(given, 4), how = read_tuple(parts[0], 8);
  const Making making(how[0], how[1], how[2], how[3], how[4], how[5], how[6], how[7], nb::none());
  TensorArrayContents contents{
      making.size, making.dtype(), making.options, read_flag(parts[1], "is_gradient"), read_flag(parts[2], "all_read"),
      {}};
  if (!PyTuple_Check(parts[3].ptr())) raise_invalid_argument("contents has no tuple of elements");
  for (nb::handle element : nb::borrow<nb::tuple>(parts[3])) {
    contents.elements.push_back(read_element(element, *making.type));
  }
  const Context context{.cancelled = ctrl_c_test()};
  return {unwrap(interruptible([&] { return TensorArray::restore(contents, context); })), making.type};
}

}  // namespace backslice::python
