#include "bindings/strings.h"

#include "backslice/slice.h"
#include "bindings/errors.h"

namespace backslice::python {
namespace {

StringKind kind_of(PyObject* object) {
  if (object != nullptr && PyUnicode_Check(object)) return StringKind::Str;
  if (object != nullptr && PyBytes_Check(object)) return StringKind::Bytes;
  return StringKind::Unknown;
}

// Runs no code of the object's class: what it overrides cannot change the array meanwhile.
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
  Py_ssize_t size = 0;
  if (own == StringKind::Bytes) return {PyBytes_AS_STRING(object), static_cast<std::size_t>(PyBytes_GET_SIZE(object))};
  const char* text = PyUnicode_AsUTF8AndSize(object, &size);
  if (text == nullptr) {
    PyErr_Clear();
    raise_invalid_argument(std::string(argument) + " has a str that is no valid Unicode: " + repr_text(object));
  }
  return {text, static_cast<std::size_t>(size)};
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
  // The array's memory, not what a subclass says is in it. The references stay the array's: nothing runs meanwhile.
  Tensor pointers = unwrap(slice(Selection::all(input.view.shape()), input.view));
  Tensor tensor = unwrap(Tensor::make(DType::String, input.view.shape()));
  StringKind found = kind;
  auto to = tensor.elements<std::string>().begin();
  for (PyObject* object : pointers.elements<PyObject*>()) *to++ = to_string(object, argument, found);
  kind = found;
  return tensor;
}

nb::object objects_from_strings(const Tensor& tensor, StringKind kind) {
  Tensor dense = unwrap(slice(Selection::all(tensor.shape()), tensor.view()));
  nb::list list;
  for (const std::string& text : dense.elements<std::string>()) list.append(to_object(text, kind));
  const nb::module_ numpy = nb::module_::import_("numpy");
  nb::object array = numpy.attr("empty")(nb::len(list), "object");
  array[nb::ellipsis()] = list;
  nb::list shape;
  for (std::int64_t n : tensor.shape()) shape.append(n);
  return array.attr("reshape")(nb::tuple(shape));
}

}  // namespace backslice::python
