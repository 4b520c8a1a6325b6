#include "bindings/errors.h"

#include <algorithm>

#include "bindings/package.h"

namespace backslice::python {
namespace {

[[noreturn]] void raise_named(const char* name, const std::string& message) {
  const nb::object type = registered(name);
  PyErr_SetObject(type.ptr(), new_str(message).ptr());
  throw nb::python_error();
}

std::int64_t characters_before(std::string_view text, std::size_t byte) {
  const std::string_view before = text.substr(0, byte);
  return std::count_if(before.begin(), before.end(),
                       [](char c) { return (static_cast<unsigned char>(c) & 0xc0) != 0x80; });
}

std::string message_with_text(const Status& status, std::string_view text) {
  if (!status.span()) return status.message();
  std::string shown = "\n" + marked(text, *status.span());
  for (std::size_t line = 0; (line = shown.find('\n', line)) != std::string::npos; ++line) shown.insert(line + 1, "  ");
  return status.message() + shown;
}

// Sets the attributes that backslice.Error documents.
void set_details(nb::handle error, const Status& status, std::string_view text) {
  if (status.output_written()) error.attr("output_written") = true;
  if (!status.argument().empty()) error.attr("argument") = new_str(status.argument());
  if (status.position()) error.attr("position") = *status.position();
  if (const auto span = status.span()) {
    error.attr("span") = nb::make_tuple(characters_before(text, span->begin), characters_before(text, span->end));
  }
}

const char* exception_name(const Status& status) {
  if (status.is_about_dtype()) return "DTypeError";
  switch (status.code()) {
    case StatusCode::InvalidArgument: return "InvalidArgumentError";
    case StatusCode::OutOfRange: return "OutOfRangeError";
    case StatusCode::ResourceExhausted: return "ResourceExhaustedError";
    case StatusCode::FailedPrecondition: return "FailedPreconditionError";
    case StatusCode::Unimplemented: return "UnimplementedError";
    case StatusCode::Ok:
    case StatusCode::Cancelled:
    case StatusCode::Internal: break;
  }
  return "InternalError";
}

}  // namespace

void raise_invalid_argument(const std::string& message) { raise_named("InvalidArgumentError", message); }
void raise_dtype_error(const std::string& message) { raise_named("DTypeError", message); }
void raise_dtype_error_from(nb::python_error& cause, const std::string& message) {
  const nb::object value = nb::borrow(cause.value());
  try {
    raise_dtype_error(message);
  } catch (nb::python_error& error) {
    PyException_SetCause(error.value().ptr(), value.inc_ref().ptr());
    PyException_SetContext(error.value().ptr(), value.inc_ref().ptr());
    throw;
  }
}
void raise_out_of_range(const std::string& message) { raise_named("OutOfRangeError", message); }
void raise_unimplemented(const std::string& message) { raise_named("UnimplementedError", message); }
void raise_occurred(bool output_written) {
  nb::python_error error;
  if (output_written && PyObject_SetAttrString(error.value().ptr(), "output_written", Py_True) != 0) PyErr_Clear();
  throw error;
}
void raise(const Status& status, std::string_view text) {
  // A signal handler raised it. Keep it, whatever error ended the operation: threads may fail in any order.
  if (PyErr_Occurred() != nullptr) raise_occurred(status.output_written());
  if (status.argument().empty() && !status.span() && !status.output_written())
    raise_named(exception_name(status), status.message());
  const nb::object type = registered(exception_name(status));
  const nb::object error = type(new_str(message_with_text(status, text)));
  set_details(error, status, text);
  PyErr_SetObject(type.ptr(), error.ptr());
  throw nb::python_error();
}

void set_error(const Status& status) noexcept {
  try {
    raise(status);
  } catch (nb::python_error& error) {
    error.restore();
  } catch (const std::exception& other) {  // no memory for the message
    PyErr_SetString(PyExc_MemoryError, other.what());
  }
}

void pass_on_unless_ordinary(const nb::python_error& error) {
  if (!error.matches(PyExc_Exception) || error.matches(PyExc_MemoryError)) throw nb::python_error(error);
}

bool is_own_error(const nb::python_error& error) { return error.matches(registered("Error")); }

std::string message_of(const nb::python_error& error) {
  pass_on_unless_ordinary(error);
  return str_text(error.value());
}

}  // namespace backslice::python
