#include "bindings/object_arrays.h"

#include <algorithm>
#include <cstring>
#include <vector>

#include "backslice/slice.h"
#include "bindings/errors.h"
#include "bindings/gil.h"

namespace backslice::python {
namespace {

template <class AnyView, class Body>
void for_each(const AnyView& view, decltype(view.data) data, int axis, const Body& body) {
  if (axis == view.shape().rank()) return body(data);
  for (std::int64_t i = 0; i < view.shape()[axis]; ++i) {
    for_each(view, data + i * view.layout.strides[axis], axis + 1, body);
  }
}

PyObject* load(const std::byte* slot) {
  PyObject* object;
  std::memcpy(&object, slot, sizeof(object));
  return object;
}

}  // namespace

nb::object empty_string_of(const InputArray& input, const char* argument) {
  bool any_str = false, any_bytes = false;
  for_each(input.view, input.view.data, 0, [&](const std::byte* slot) {
    PyObject* object = load(slot);
    if (object != nullptr && PyUnicode_Check(object)) {
      any_str = true;
    } else if (object != nullptr && PyBytes_Check(object)) {
      any_bytes = true;
    } else {
      raise_dtype_error(std::string(argument) + " is an object array with an element of type " +
                        (object == nullptr ? "NoneType" : type_text(object)) +
                        "; object arrays must hold only str or only bytes");
    }
  });
  if (any_str && any_bytes) {
    raise_dtype_error(std::string(argument) + " is an object array that mixes str and bytes; use one of them");
  }
  if (any_bytes) return nb::steal(PyBytes_FromStringAndSize("", 0));
  return nb::steal(PyUnicode_FromString(""));
}

void move_objects(const View& out, nb::handle zero, const std::function<Status(const View&)>& move) {
  std::vector<PyObject*> old;
  old.reserve(static_cast<std::size_t>(out.elements()));
  for_each(out, out.data, 0, [&](std::byte* slot) { old.push_back(load(slot)); });
  if (const Status status = move(out); !status.ok()) {
    // pointers that were written do not own references
    auto next = old.begin();
    for_each(out, out.data, 0, [&](std::byte* slot) { std::memcpy(slot, &*next++, sizeof(PyObject*)); });
    raise(status);
  }
  for_each(out, out.data, 0, [&](std::byte* slot) {
    PyObject* object = load(slot);
    if (object == nullptr) object = zero.ptr();
    Py_INCREF(object);
    std::memcpy(slot, &object, sizeof(object));
  });
  for (PyObject* object : old) Py_XDECREF(object);
}

void exchange_objects(const View& out, nb::handle objects) noexcept {
  auto** next = static_cast<PyObject**>(PyArray_DATA(as_array(objects)));
  for_each(out, out.data, 0, [&](std::byte* slot) {
    PyObject* old = load(slot);
    std::memcpy(slot, next, sizeof(PyObject*));
    *next++ = old;
  });
}

nb::object empty_object_array(const Shape& shape) {
  PyObject* array = call_python([&] { return PyArray_SimpleNew(shape.rank(), shape.begin(), NPY_OBJECT); });
  if (array != nullptr) return nb::steal(array);
  const nb::python_error error;
  if (!error.matches(PyExc_MemoryError)) pass_on_unless_ordinary(error);
  raise(Status(StatusCode::ResourceExhausted, "could not allocate an array of shape " + to_string(Ints(shape))));
}

nb::object new_object_array(Tensor pointers, nb::handle zero) {
  // Takes references first: while NumPy makes the array, other threads may run and drop theirs.
  const std::span<PyObject*> objects = unwrap(pointers.elements<PyObject*>());
  for (PyObject*& object : objects) {
    if (object == nullptr) object = zero.ptr();
    Py_INCREF(object);
  }
  nb::object result;
  try {
    result = empty_object_array(pointers.shape());
  } catch (...) {
    for (PyObject* object : objects) Py_DECREF(object);
    throw;
  }
  std::copy(objects.begin(), objects.end(), static_cast<PyObject**>(PyArray_DATA(as_array(result))));
  return result;
}

}  // namespace backslice::python
