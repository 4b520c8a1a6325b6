#include "bindings/errors.h"

#include "bindings/package.h"

namespace backslice::python {
namespace {

[[noreturn]] void raise_named(const char* name, const std::string& message) {
  const nb::object type = registered(name);
  PyErr_SetObject(type.ptr(), new_str(message).ptr());
  throw nb::python_error();
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
void raise(const Status& status) {
  // A signal's handler raised it. The operation ended for that or for another reason: what failed first on one thread
  // may not be what failed first on another.
  if (PyErr_Occurred() != nullptr) nb::raise_python_error();
  raise_named(exception_name(status), status.message());
}

void set_error(const Status& status) noexcept {
  try {
    raise(status);
  } catch (nb::python_error& error) {
    error.restore();
  } catch (const std::exception& other) {  // no memory to say it
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
