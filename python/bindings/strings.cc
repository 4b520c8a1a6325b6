#include "bindings/strings.h"

#include "backslice/slice.h"
#include "bindings/errors.h"

namespace backslice::python {
namespace {

std::string to_string(PyObject* object, const char* argument, StringKind& kind) {
  const StringKind own = object != nullptr && PyUnicode_Check(object) ? StringKind::Str
                         : object != nullptr && PyBytes_Check(object) ? StringKind::Bytes
                                                                      : StringKind::Unknown;
  if (own == StringKind::Unknown) {
    raise_dtype_error(std::string(argument) + " has an element of type " +
                      (object == nullptr ? "NoneType" : type_text(object)) + "; objects must be str or bytes");
  }
  if (kind == StringKind::Unknown) kind = own;
  if (kind != own) raise_dtype_error(std::string(argument) + " mixes str and bytes; use one of them");
  Py_ssize_t size = 0;
  if (own == StringKind::Bytes) return {PyBytes_AS_STRING(object), static_cast<std::size_t>(PyBytes_GET_SIZE(object))};
  const char* text = PyUnicode_AsUTF8AndSize(object, &size);
  if (text == nullptr) nb::raise_python_error();
  return {text, static_cast<std::size_t>(size)};
}

}  // namespace

Tensor strings_from_objects(const InputArray& input, const char* argument, StringKind& kind) {
  Tensor tensor = unwrap(Tensor::make(DType::String, input.view.shape()));
  StringKind found = kind;
  auto strings = tensor.elements<std::string>();
  const nb::object flat = input.owner.attr("ravel")().attr("tolist")();
  for (std::size_t i = 0; i < strings.size(); ++i) {
    strings[i] = to_string(PyList_GET_ITEM(flat.ptr(), static_cast<Py_ssize_t>(i)), argument, found);
  }
  kind = found;
  return tensor;
}

nb::object objects_from_strings(const Tensor& tensor, StringKind kind) {
  Tensor dense = unwrap(slice(Selection::all(tensor.shape()), tensor.view()));
  nb::list list;
  for (const std::string& text : dense.elements<std::string>()) {
    const auto size = static_cast<Py_ssize_t>(text.size());
    list.append(nb::steal(kind == StringKind::Bytes ? PyBytes_FromStringAndSize(text.data(), size)
                                                    : PyUnicode_FromStringAndSize(text.data(), size)));
  }
  const nb::module_ numpy = nb::module_::import_("numpy");
  nb::object array = numpy.attr("empty")(nb::len(list), "object");
  array[nb::ellipsis()] = list;
  nb::list shape;
  for (std::int64_t n : tensor.shape()) shape.append(n);
  return array.attr("reshape")(nb::tuple(shape));
}

}  // namespace backslice::python
