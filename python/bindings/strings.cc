#include "bindings/strings.h"

#include "backslice/slice.h"
#include "bindings/errors.h"
#include "bindings/interruption.h"
#include "bindings/object_arrays.h"
#include "bindings/objects.h"
#include "bindings/output_argument.h"
#include "ops/checks.h"

namespace backslice::python {
namespace {

StringKind kind_of(PyObject* object) {
  if (object != nullptr && PyUnicode_Check(object)) return StringKind::Str;
  if (object != nullptr && PyBytes_Check(object)) return StringKind::Bytes;
  return StringKind::Unknown;
}

// Runs no code of the object's class, so overridden methods cannot change the array meanwhile.
std::string to_string(PyObject* object, const char* argument, StringKind& kind) {
  const StringKind own = kind_of(object);
  if (own == StringKind::Unknown) {
    raise_dtype_error(std::string(argument) + " has an element of type " +
                      (object == nullptr ? "NoneType" : type_text(object)) + "; objects must be str or bytes");
  }
  if (kind == StringKind::Unknown) kind = own;
  if (kind != own) {
    raise_dtype_error(std::string(argument) + " mixes str and bytes: an element is " + text_of(own) +
                      "; use one of them");
  }
  if (own == StringKind::Bytes) return {PyBytes_AS_STRING(object), static_cast<std::size_t>(PyBytes_GET_SIZE(object))};
  if (const auto text = utf8_of(object)) return std::string(*text);
  raise_invalid_argument(std::string(argument) + " has the element " + repr_text(object) +
                         ", which has lone surrogates; expected text that UTF-8 can encode");
}

// Calls the body for each element in row-major order.
template <class Body>
void for_each_string(const ConstView& view, const Body& body, int axis = 0, std::int64_t offset = 0) {
  if (axis == view.shape().rank()) return body(*reinterpret_cast<const std::string*>(view.data + offset));
  for (std::int64_t i = 0; i < view.shape()[axis]; ++i) {
    for_each_string(view, body, axis + 1, offset + i * view.layout.strides[axis]);
  }
}

nb::object to_object(const std::string& text, StringKind kind) {
  const auto size = static_cast<Py_ssize_t>(text.size());
  PyObject* object = kind == StringKind::Bytes ? PyBytes_FromStringAndSize(text.data(), size)
                                               : PyUnicode_FromStringAndSize(text.data(), size);
  if (object == nullptr) nb::raise_python_error();
  return nb::steal(object);
}

}  // namespace

const char* text_of(StringKind kind) { return kind == StringKind::Bytes ? "bytes" : "str"; }

Tensor strings_from_objects(const InputArray& input, const char* argument, StringKind& kind) {
  // Reads the array's memory; a subclass cannot interfere. The references stay the array's: no other code runs
  // meanwhile.
  Tensor pointers = unwrap(slice(Selection::all(input.view.shape()), input.view));
  Tensor tensor = unwrap(Tensor::make(DType::String, input.view.shape()));
  StringKind found = kind;
  auto to = unwrap(tensor.elements<std::string>()).begin();
  for (PyObject* object : unwrap(pointers.elements<PyObject*>())) *to++ = to_string(object, argument, found);
  kind = found;
  return tensor;
}

nb::object objects_from_strings(const Tensor& tensor, StringKind kind, Handlers handlers) {
  nb::object array = empty_object_array(tensor.shape());
  auto** to = static_cast<PyObject**>(PyArray_DATA(as_array(array)));
  LongLoop loop;
  for_each_string(tensor.view(), [&](const std::string& text) {
    if (handlers == Handlers::MayRun) loop.step();
    *to++ = to_object(text, kind).release().ptr();
  });
  return array;
}

void fill_with_strings(nb::handle out, const Tensor& tensor, StringKind kind) {
  const nb::object dtype = as_numpy_dtype(nb::str("object"));
  const ElementType type = element_type(dtype, "out");
  const nb::object objects = objects_from_strings(tensor, kind);
  // A signal handler may have changed the array.
  const View view = OutputArgument(out).view(dtype, type, "the strings");
  check(check_output(view, "out", tensor.shape(), view.dtype, view.layout.item_size, "the strings"));
  exchange_objects(view, objects);
}

}  // namespace backslice::python
