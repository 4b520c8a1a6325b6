#include "bindings/text.h"

#include "bindings/errors.h"
#include "bindings/gil.h"

namespace backslice::python {
namespace {

// Any str as UTF-8, with lone surrogates as \ud800.
std::string escaped(nb::handle str) {
  const nb::object bytes = nb::steal(PyUnicode_AsEncodedString(str.ptr(), "utf-8", "backslashreplace"));
  if (!bytes.is_valid()) nb::raise_python_error();
  return {PyBytes_AS_STRING(bytes.ptr()), static_cast<std::size_t>(PyBytes_GET_SIZE(bytes.ptr()))};
}

// `text` is the result of repr or str, null if it raised.
std::string shown(nb::object text, nb::handle object, Py_ssize_t most, const char* ending) {
  if (!text.is_valid()) {
    pass_on_unless_ordinary(nb::python_error());
    return "<" + type_text(object) + " that cannot be shown>";
  }
  if (PyUnicode_GET_LENGTH(text.ptr()) <= most) return escaped(text);
  return escaped(nb::steal(PyUnicode_Substring(text.ptr(), 0, most))) + ending;
}

}  // namespace

std::optional<std::string_view> utf8_of(nb::handle str) {
  Py_ssize_t size = 0;
  const char* text = PyUnicode_AsUTF8AndSize(str.ptr(), &size);
  if (text != nullptr) return std::string_view(text, static_cast<std::size_t>(size));
  pass_on_unless_ordinary(nb::python_error());
  return std::nullopt;
}

std::string_view read_str(nb::handle object, const char* argument) {
  if (!PyUnicode_Check(object.ptr())) {
    raise_dtype_error(std::string(argument) + " is " + repr_text(object) + ", expected a str");
  }
  if (const auto text = utf8_of(object)) return *text;
  raise_invalid_argument(std::string(argument) + " is " + repr_text(object) +
                         ", which has lone surrogates; expected text that UTF-8 can encode");
}

nb::object new_str(std::string_view text) {
  nb::object str =
      nb::steal(PyUnicode_DecodeUTF8(text.data(), static_cast<Py_ssize_t>(text.size()), "backslashreplace"));
  if (!str.is_valid()) nb::raise_python_error();
  return str;
}

std::string repr_text(nb::handle object, Py_ssize_t most, const char* ending) {
  return shown(nb::steal(call_python([&] { return PyObject_Repr(object.ptr()); })), object, most, ending);
}

std::string str_text(nb::handle object) {
  return shown(nb::steal(call_python([&] { return PyObject_Str(object.ptr()); })), object, kMostLetters, " ...");
}

std::string type_text(nb::handle object) { return Py_TYPE(object.ptr())->tp_name; }

}  // namespace backslice::python
